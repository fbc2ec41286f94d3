package devsession

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// processOf returns a process with a terminal, and the state beside the manifest.
func processOf(t *terminal.Terminal) Process {
	return Process{
		Terminal: t, Sites: &project.Sites{Terminal: t},
		States: localstate.Locator{WorkDir: userfile.WorkDir(t.Dir), Flag: "--state-dir"},
	}
}

// migrationSite makes a site with a database and some migrations, by name.
func migrationSite(t *testing.T, files map[string]string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	write(t, filepath.Join(dir, manifest.FileName), `{"assets": "public", "bindings": {"database": {"migrations": "migrations"}}}`)
	write(t, filepath.Join(dir, "public", "index.html"), "<!doctype html><title>x</title>")
	for name, text := range files {
		write(t, filepath.Join(dir, "migrations", name), text)
	}
	return dir
}

// write writes a file, in a folder that it creates if needed.
func write(t *testing.T, file, text string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
		t.Fatal(err)
	}
}

// newTestBuilder returns the builder of a site, with its console.
func newTestBuilder(t *testing.T, dir string) *builder {
	t.Helper()
	m, diags := validate.Load(os.DirFS(dir), manifest.FileName)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	p := processOf(&terminal.Terminal{Now: time.Now, Stderr: &bytes.Buffer{}, Stdout: &bytes.Buffer{}})
	s, err := p.States.Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	b, err := (&session{process: p, dir: dir, manifest: m, state: s}).newBuilder(t.Context(), newConsole(p.Terminal))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.close)
	return b
}

// TestFailuresAreToldOnceForEachBuild: the record of shown failures is cleared at the end of a build, before the build is served, and not
// at its report: a request may have failed in between.
func TestFailuresAreToldOnceForEachBuild(t *testing.T) {
	b := newTestBuilder(t, migrationSite(t, map[string]string{"0001_a.sql": "CREATE TABLE nonsense (;\n"}))
	isNew := func(want bool, when string) {
		t.Helper()
		if got := b.console.isNew("a failure"); got != want {
			t.Errorf("%s: told %v", when, got)
		}
	}
	isNew(true, "at first")
	isNew(false, "again")
	b.Build(t.Context(), nil)
	isNew(true, "after a build")
	b.console.build(devserver.Build{Number: 2, OK: true})
	isNew(false, "at its report")
}

// TestWatchedFoldersHoldNoDatabase: some systems watch a folder by opening its files, which would end the locks of databases. So does the
// list of a build that a failed migration stopped: the build continues after a command reports a repair of the database.
func TestWatchedFoldersHoldNoDatabase(t *testing.T) {
	dir := migrationSite(t, map[string]string{"0001_a.sql": "CREATE TABLE a (x);\n"})
	b := newTestBuilder(t, dir)
	s := b.run.state
	if err := os.WriteFile(filepath.Join(dir, "migrations", "0002_b.sql"), []byte("CREATE TABLE nonsense (;\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	out := b.Build(t.Context(), nil)
	if out.OK {
		t.Fatal("the migration did not stop the build")
	}
	for _, path := range out.Watch {
		folder := filepath.Dir(path)
		if _, err := os.Stat(folder); err != nil {
			t.Errorf("%s is watched by a folder above it: %v", path, err)
		}
		if databases, _ := filepath.Glob(filepath.Join(folder, "*.db")); databases != nil {
			t.Errorf("beside %s, which is watched, lie %v", path, databases)
		}
	}
	s.NotifyWritten()
	if _, err := os.Stat(s.WrittenFile()); err != nil {
		t.Error(err)
	}
}

// TestOwnHosts: a fetch to any name of the dev server goes to the site itself.
func TestOwnHosts(t *testing.T) {
	b := &builder{run: &session{
		options: Options{AllowHosts: []string{"club.example", ".tunnel.example"}}, sockets: &devserver.Listeners{Port: 8788},
	}}
	for host, own := range map[string]bool{
		"localhost:8788": true, "127.0.0.1:8788": true, "[::1]:8788": true, "club.localhost:8788": true,
		"club.example:8788": true, "club.example": true, "a.b.tunnel.example:8788": true, "tunnel.example:8788": true,
		"localhost": false, "localhost:8789": false, "club.example:3000": false, "other.example:8788": false, "www.club.example": false,
		"a.tunnel.example": false, "nottunnel.example:8788": false,
	} {
		t.Run(host, func(t *testing.T) {
			if b.isSelf(host) != own {
				t.Errorf("%s is the site itself: %v", host, !own)
			}
		})
	}
}
