package devserver

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
)

// The dashboard reads lists: none may be null.
func TestInfoHasLists(t *testing.T) {
	for name, info := range map[string]Info{
		"no manifest": Describe(nil), "an empty manifest": Describe(&manifest.Manifest{}),
		"a Worker": Describe(&manifest.Manifest{Entry: "w.js"}), "an empty Info": Info{}.withLists(),
	} {
		t.Run(name, func(t *testing.T) {
			data, err := json.Marshal(info)
			if err != nil || strings.Contains(string(data), "null") {
				t.Errorf("%s, %v", data, err)
			}
		})
	}
}

func TestDescribeStaticSite(t *testing.T) {
	info := Describe(&manifest.Manifest{Assets: "public", Routes: []manifest.Route{{Pattern: "/club/*", Access: manifest.Members}}})
	if len(info.Limits) != 0 || info.Routes[0] != (Route{"/club/*", "members", "static"}) {
		t.Errorf("%+v", info)
	}
}

func TestDescribeEverything(t *testing.T) {
	info := Describe(&manifest.Manifest{
		Bindings: manifest.Bindings{
			Database: &manifest.Database{}, ProjectDatabase: manifest.ProjectRead,
			Storage: &manifest.Storage{Name: "BUCKET"}, Images: true, Submissions: "inbox",
		}, Forms: []manifest.Form{{Name: "contact", Event: "custom.contact"}},
		Runtime: manifest.Runtime{CompatibilityFlags: []string{manifest.FlagNodeJS}},
	})
	var names []string
	for _, b := range info.Bindings {
		names = append(names, b.Name)
	}
	if got := strings.Join(names, " "); got != "DB PROJECT_DB BUCKET IMAGES inbox" || len(info.Forms) != 1 || len(info.Flags) != 1 {
		t.Errorf("%s; %+v", got, info)
	}
}
