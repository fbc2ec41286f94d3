package main

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

func TestReleased(t *testing.T) {
	defer func(v, c string) { version, commit = v, c }(version, commit)
	for _, c := range []struct{ version, commit, want string }{
		{"1.2.3", "0123abc", "1.2.3"},
		{"v1.2.3-rc.1", "0123abc", "v1.2.3-rc.1"},
		{"0.2.0-dev.g0123abc", "0123abc", ""},
		{"0.2.0-dev.g0123abc.dirty", "0123abc", ""},
		{"0.2.0-dev", "", ""},
		{"1.2.3", "", ""}, // by a linker without a commit
	} {
		version, commit = c.version, c.commit
		if got := released(); got != c.want {
			t.Errorf("version %q of commit %q is release %q, want %q", c.version, c.commit, got, c.want)
		}
	}
}

// TestChangelog: the newest section of CHANGELOG.md belongs to the next release.
func TestChangelog(t *testing.T) {
	text, err := os.ReadFile("../../CHANGELOG.md")
	if err != nil {
		t.Fatal(err)
	}
	newest := regexp.MustCompile(`(?m)^## (\S+) \((in development|\d{4}-\d\d-\d\d)\)$`).FindSubmatch(text)
	if next, _, _ := strings.Cut(version, "-"); newest == nil || string(newest[1]) != next {
		t.Errorf("CHANGELOG.md begins with %q, and the next version is %s", newest, version)
	}
}
