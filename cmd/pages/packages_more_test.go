package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestMorePackages runs the first example in the documentation of some 70 packages, in three Workers: each takes half of the load time
// limit of a Worker. workerd.json has the responses of workerd, at the compatibility date 2026-10-01 with the flag nodejs_compat.
func TestMorePackages(t *testing.T) {
	testmachine.Unraced(t)
	dir := filepath.Join(copyExample(t, "packages"), "more")
	text, err := os.ReadFile(filepath.Join(dir, "workerd.json"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "pages.deploy.json")
	manifest, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	asked := map[string]bool{}
	for _, topic := range []string{"data", "flow", "text"} {
		t.Run(topic, func(t *testing.T) {
			put(t, file, strings.Replace(string(manifest), "src/data.js", "src/"+topic+".js", 1))
			d := startDev(t, dir)
			answer := d.get("/")
			d.stop()
			got := map[string]string{}
			if err := json.Unmarshal([]byte(answer.body), &got); err != nil {
				t.Fatalf("%d %s", answer.StatusCode, answer.body)
			}
			for name, value := range got {
				if asked[name] = true; value != want[name] {
					t.Errorf("%s\n got %s\nwant %s", name, value, want[name])
				}
			}
		})
	}
	for name := range want {
		if !asked[name] {
			t.Errorf("no Worker answers %s", name)
		}
	}
}
