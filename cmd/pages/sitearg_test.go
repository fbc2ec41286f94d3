package main

import (
	"os"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

// Every command that works on a site accepts its folder or manifest as an argument, after a name, too.
func TestSiteAsArgument(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/pages.deploy.json", []byte(`{}`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, args := range []string{
		"state save a SITE", "state list SITE", "state load a SITE/pages.deploy.json", "state remove a SITE",
		"state reset --yes SITE", "state list -C SITE",
	} {
		t.Run(args, func(t *testing.T) {
			if code, stdout, stderr := runInto(t, nil, strings.Fields(strings.ReplaceAll(args, "SITE", dir))...); code != 0 {
				t.Errorf("%s: exit %d, %s%s", args, code, stdout, stderr)
			}
		})
	}
	for _, args := range []string{
		"state list SITE -C SITE", "state save a SITE -C SITE", "state list SITE SITE", "state save a b c",
		"test SITE -C SITE -- true",
	} {
		t.Run(args, func(t *testing.T) {
			if code, _, stderr := runInto(t, nil, strings.Fields(strings.ReplaceAll(args, "SITE", dir))...); code != failure.ExitUsage {
				t.Errorf("%s: exit %d, %s", args, code, stderr)
			}
		})
	}
}
