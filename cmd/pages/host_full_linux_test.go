package main

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestStartOnAFullDisk: the error of a start on a full disk names the cause, whichever write failed first.
func TestStartOnAFullDisk(t *testing.T) {
	disk := testmachine.OwnDisk(t, "24m")
	if disk == nil {
		return
	}
	path := program(t)
	ended := func(dir string, args ...string) string {
		t.Helper()
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, path, args...)
		cmd.Dir = dir
		text, err := cmd.CombinedOutput()
		if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != failure.ExitResource {
			t.Errorf("%q: %v", args, err)
		}
		return string(text)
	}
	started, fresh, site := filepath.Join(disk.Dir, "started"), filepath.Join(disk.Dir, "fresh"), filepath.Join(disk.Dir, "site")
	p := startPlatform(t, started)
	if code := p.end(t, os.Interrupt); code != 0 {
		t.Fatal(code, p.stderr)
	}
	if err := errors.Join(
		os.Mkdir(fresh, 0o700), os.Mkdir(site, 0o700),
		os.WriteFile(filepath.Join(site, "pages.deploy.json"), []byte(`{"bindings":{"database":{}}}`), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for _, room := range []int64{0, 40 << 10, 200 << 10} { // then another file is the first without room
		spare := filepath.Join(disk.Dir, "spare")
		if err := os.WriteFile(spare, make([]byte, room), 0o600); err != nil {
			t.Fatal(err)
		}
		disk.Fill()
		if err := os.Remove(spare); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{
			{"platform", "--port", "0", "--data", fresh, "--seed", "demo"},
			{"platform", "keys", "list", "--data", started},
			{"platform", "--port", "0", "--data", started},
			{"dev", "--port", "0", "-C", site},
		} {
			t.Run(strings.Join(args, " "), func(t *testing.T) {
				if room > 0 && args[len(args)-1] == started || room > 40<<10 && args[0] == "dev" { // then it has enough
					return
				}
				said := ended(disk.Dir, args...)
				if !strings.Contains(said, "the disk of the ") || !strings.Contains(said, " folder ") ||
					!strings.Contains(said, " is full\n") || !strings.Contains(said, "fix: free some space on the disk") {
					t.Errorf("%q with %d bytes of room: %s", args, room, said)
				}
			})
		}
		disk.Empty()
	}
	p = startPlatform(t, started)
	if code := p.end(t, os.Interrupt); code != 0 {
		t.Error(code, p.stderr)
	}
}
