package sitepath

import (
	"slices"
	"strings"
	"testing"
)

func TestReadings(t *testing.T) {
	for sent, want := range map[string]string{
		"/a":                     "/a",
		"/a%2Fb":                 "/a%2Fb /a/b",
		"/a//b":                  "/a//b /a/b",
		"//a/b":                  "//a/b /a/b /b",
		"/x/%2e%2e/b":            "/b /x/%2e%2e/b /x/../b",
		"/%2561":                 "/%2561 /%61 /a",
		"/a/..;v=1/b":            "/a/..;v=1/b /b",
		"/a%3Fx":                 "/a /a%3Fx /a?x",
		"/x/a%2fb/%2e%2e/secret": "/x/a%2fb/%2e%2e/secret /x/a/b/../secret /x/a/secret /x/secret",
	} {
		got, ok := Readings(sent)
		slices.Sort(got)
		if list := strings.Join(got, " "); !ok || list != want {
			t.Errorf("%s is read as %s, want %s", sent, list, want)
		}
	}
	if got, ok := Readings("/" + strings.Repeat("%"+strings.Repeat("25", 300)+"2e//..;/", 10)); ok {
		t.Errorf("%d readings", len(got))
	}
}

// FuzzReadings: readings are bounded, and each step leads from one of them to another.
func FuzzReadings(f *testing.F) {
	for _, sent := range []string{"/", "//a/%2f..;/", "/%252e%2e/%C3%A9?#", "/a/.%2e/%25252f", "/%E2%80%A5/x", "/%5c..%5C"} {
		f.Add(sent)
	}
	f.Fuzz(func(t *testing.T, sent string) {
		all, ok := Readings(sent)
		if !ok {
			return
		}
		if len(all) > maxReadings || all[0] != sent {
			t.Fatalf("%q has %d readings", sent, len(all))
		}
		for _, reading := range all {
			for _, step := range steps {
				if next := step(reading); !slices.Contains(all, next) {
					t.Fatalf("%q is read as %q, and not as %q", sent, reading, next)
				}
			}
		}
	})
}
