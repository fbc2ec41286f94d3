package main

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// treeOf returns all contents of a folder: names, kinds, modes, times, targets of links, and every byte.
func treeOf(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := fmt.Sprint(info.Mode(), info.ModTime().UnixNano())
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			all[path] = what + " -> " + to
			return err
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			all[path] = fmt.Sprintf("%s %x", what, sha256.Sum256(text))
			return err
		}
		all[path] = what
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// differing returns the names of the files that differ between two trees.
func differing(before, after map[string]string) (names []string) {
	for name, was := range before {
		if now, there := after[name]; !there || now != was {
			names = append(names, name)
		}
	}
	for name := range after {
		if _, there := before[name]; !there {
			names = append(names, "new: "+name)
		}
	}
	slices.Sort(names)
	return names
}

// ownFiles are a person's own files: nested, hidden, read-only, with odd names, and some with names of a state's.
var ownFiles = []string{
	"thesis.docx", "photos/2026/may/a.jpg", ".ssh/id", ".env", "name with spaces\tand tabs", "-rf", "ünïcödé", "empty/",
	".hidden/deep/er/x",
	"site.db", "storage/thesis.docx", "storage/blobs/list.txt", "storage/index.db", "uploads/incoming/draft",
	"undo/backup.db", "snapshots/holiday/a.jpg",
	"snapshots/.saving-1/a.jpg", ".load/new/site.db", ".load/x", "told/story.txt", "dev.json", "cache.db", "db_history",
	".DS_Store", "storage/.DS_Store",
}

func layOwn(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		if strings.HasSuffix(name, "/") {
			if err := os.MkdirAll(filepath.Join(dir, name), 0o755); err != nil {
				t.Fatal(err)
			}
			continue
		}
		put(t, filepath.Join(dir, filepath.FromSlash(name)), "mine: "+name)
	}
	if runtime.GOOS != "windows" {
		for name, to := range map[string]string{"link": "thesis.docx", "loose": "nowhere", "round": "round", "kv.db": "thesis.docx"} {
			if err := os.Symlink(to, filepath.Join(dir, name)); err != nil {
				t.Fatal(err)
			}
		}
	}
	locked := filepath.Join(dir, "photos")
	if err := errors.Join(
		os.Chmod(filepath.Join(dir, "thesis.docx"), 0o400), os.MkdirAll(locked, 0o755), os.Chmod(locked, 0o500),
	); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(locked, 0o700) })
}

const foreignManifest = `{"assets": "public", "entry": "src/worker.js", "routes": [{"pattern": "/api/*"}],
"forms": [{"name": "join", "event": "custom.joined"}],
"bindings": {"database": {"migrations": "migrations"}, "projectDatabase": "readwrite",
"kv": {"name": "KV"}, "storage": {"name": "BUCKET"}}}`

// foreignSite is a site in its own folder, in which no repair is needed.
func foreignSite(t *testing.T) (all, site string) {
	t.Helper()
	all = t.TempDir()
	site = filepath.Join(all, "sites", "club")
	for name, text := range map[string]string{
		"pages.deploy.json": foreignManifest,
		"public/index.html": `<!doctype html><html lang="en"><title>Club</title><form method="post" ` +
			`action="/__pages/forms/join"><input ` +
			`name="a"></form></html>`, "src/worker.js": "export default { fetch: () => new Response('hello') };",
		"migrations/0001_a.sql": "CREATE TABLE a (x TEXT);", "seed.sql": "INSERT INTO a VALUES ('seeded');",
	} {
		put(t, filepath.Join(site, filepath.FromSlash(name)), text)
	}
	put(t, filepath.Join(all, "rows.sql"), "INSERT INTO a VALUES ('read');")
	put(t, filepath.Join(all, "a.csv"), "x\n1\n")
	if stdout, _, code := pages(t, "doctor", "-C", site, "--fix"); code != 0 {
		t.Fatal(stdout)
	}
	return all, site
}

// stateCommands are all commands that read a state folder, each with its arguments.
func stateCommands(all string) [][]string {
	rows, table := filepath.Join(all, "rows.sql"), filepath.Join(all, "a.csv")
	var commands [][]string
	for _, line := range []string{
		"state reset --yes", "state reset --yes --json", "state load holiday --yes", "state load holiday",
		"state save holiday --force", "state save new", "state remove holiday", "state list", "state list --json",
		"state seed", "state seed --force", "migrate", "migrate --json", "migrate reset --yes", "migrate undo",
		"migrate undo --redo", "migrate undo --list", "migrate status", "migrate plan", "migrate rehearse",
		"migrate repair --accept 0001_a.sql", "migrate schema", "db query|SELECT 1", "db exec|CREATE TABLE t (x)",
		"db import|" + rows, "db import|" + table + "|--table|a", "db dump", "db shell",
		"dev --port 0", "test -- true", "test --seed -- true", "test --snapshot holiday -- true", "leads list",
		"leads show x", "leads replay x", "leads export csv", "events list", "events tail",
		"events replay --status dead", "logs", "logs --follow",
		"doctor", "doctor --fix",
	} {
		parts := strings.Split(line, "|")
		commands = append(commands, append(strings.Fields(parts[0]), parts[1:]...))
	}
	return commands
}

// TestForeignFilesStay: every command leaves files that pages has not written unchanged, byte for byte, in the folder and around it. It
// refuses the folder by name.
func TestForeignFilesStay(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a right there")
	}
	all, site := foreignSite(t)
	folder := filepath.Join(all, "documents")
	layOwn(t, folder, ownFiles...)
	state := filepath.Join(site, ".pages", "state")
	for _, c := range []struct {
		name    string
		each    int // of the commands
		prepare func(t *testing.T)
		flags   []string
		said    string
	}{
		{
			"somebody's folder", 1, nil,
			[]string{"--state-dir", folder},
			"is not a state folder of pages: it holds ",
		},
		{
			"a state with somebody's files", 2, func(t *testing.T) {
				realState(t, site)
				for _, name := range []string{
					"storage/thesis.docx", "storage/blobs/thesis.docx", "undo/thesis.docx", "storage/.DS_Store",
					".DS_Store",
				} {
					t.Run(name, func(t *testing.T) {
						put(t, filepath.Join(state, filepath.FromSlash(name)), "mine")
					})
				}
			}, nil,
			`is not a state folder of pages: it holds "storage/blobs/thesis.docx" "storage/thesis.docx" ` +
				`"undo/thesis.docx"`,
		},
		{"a link in the place of the state", 5, func(t *testing.T) {
			if err := errors.Join(os.RemoveAll(state), os.Symlink("../../../documents", state)); err != nil {
				t.Fatal(err)
			}
		}, nil, ".pages/state\" is a link"},
		{"a link in the place of .pages", 5, func(t *testing.T) {
			kept := filepath.Join(site, ".pages")
			if err := errors.Join(
				os.RemoveAll(kept), os.Mkdir(filepath.Join(folder, "state"), 0o700),
				os.Symlink("../../documents", kept),
			); err != nil {
				t.Fatal(err)
			}
		}, nil, ".pages\" is a link"},
		{"the site", 9, nil, []string{"--persist-to", site}, "is the site's own"},
		{"above the site", 9, nil, []string{"--state-dir", filepath.Dir(site)}, "is one that the site is in"},
		{
			"public files", 9, nil,
			[]string{"--state-dir", filepath.Join(site, "public", "new")},
			"in public, which holds the site's public files",
		},
		{"the source", 9, nil, []string{"--state-dir", filepath.Join(site, "src")}, "in src, which holds the site's source"},
		{
			"the migrations", 9, nil,
			[]string{"--state-dir", filepath.Join(site, "migrations")},
			"in migrations, which holds the site's migrations",
		},
		{".pages", 9, nil, []string{"--state-dir", filepath.Join(site, ".pages")}, "pages keeps other files in"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.prepare != nil {
				c.prepare(t)
			}
			before := treeOf(t, all)
			for n, command := range stateCommands(all) {
				if n%c.each > 0 {
					continue // all ask at the same place
				}
				at := slices.Index(command, "--")
				if at < 0 {
					at = len(command)
				}
				args := slices.Concat([]string{"-C", site}, command[:at], c.flags, command[at:])
				stdout, stderr, code := pages(t, args...)
				if changed := differing(before, treeOf(t, all)); len(changed) > 0 {
					t.Fatalf("pages %q changed %q", args, changed)
				}
				if code == 0 ||
					!strings.Contains(stdout+stderr, c.said) && !strings.Contains(strings.ReplaceAll(stdout+stderr, `\"`, `"`), c.said) {
					t.Errorf("pages %q ends with %d: %s%s", args, code, stdout, stderr)
				}
			}
		})
	}
}

// realState fills a site's state with the commands for it.
func realState(t *testing.T, site string) {
	t.Helper()
	d := startDev(t, site)
	d.stop()
	for _, args := range [][]string{
		{"state", "seed"},
		{"state", "save", "holiday"},
		{"migrate", "reset", "--yes"},
		{"state", "save", "holiday", "--force"},
		{"db", "exec", "INSERT INTO a VALUES ('b')"},
	} {
		if _, stderr, code := pages(t, append([]string{"-C", site}, args...)...); code != 0 {
			t.Fatalf("pages %q: %s", args, stderr)
		}
	}
	if found, err := statefolder.Look(filepath.Join(site, ".pages", "state")); err != nil || len(found.Foreign)+len(found.Links) > 0 ||
		!found.Marked {
		t.Fatalf("what pages wrote itself is not its own: %+v, %v", found, err)
	}
}

// TestLitterStays: files that a desktop leaves in a state folder do no harm, and survive a reset and a load.
func TestLitterStays(t *testing.T) {
	_, site := foreignSite(t)
	realState(t, site)
	state := filepath.Join(site, ".pages", "state")
	litter := []string{
		".DS_Store", "storage/.DS_Store", "storage/blobs/Thumbs.db", "undo/desktop.ini", "snapshots/.DS_Store",
		"snapshots/holiday/._x", "told/migrated~", ".#site.db",
	}
	for _, name := range litter {
		put(t, filepath.Join(state, filepath.FromSlash(name)), "litter")
	}
	for _, args := range [][]string{
		{"state", "save", "other"},
		{"state", "reset", "--yes"},
		{"state", "load", "holiday"},
		{"state", "load", "other"},
		{"migrate", "undo"},
		{"migrate", "reset", "--yes"},
		{"doctor"},
		{"state", "reset", "--yes"},
		{"migrate"},
		{"logs"},
		{"test", "--", "true"},
	} {
		if stdout, stderr, code := pages(t, append([]string{"-C", site}, args...)...); code != 0 {
			t.Errorf("pages %q ends with %d: %s%s", args, code, stdout, stderr)
		}
		for _, name := range litter {
			if text, err := os.ReadFile(filepath.Join(state, filepath.FromSlash(name))); err != nil || string(text) != "litter" {
				t.Fatalf("pages %q: %s: %q, %v", args, name, text, err)
			}
		}
	}
	saved := treeOf(t, filepath.Join(state, "snapshots", "other"))
	for name := range saved {
		if strings.HasSuffix(name, ".DS_Store") || strings.HasSuffix(name, "Thumbs.db") {
			t.Errorf("a snapshot holds %s", name)
		}
	}
}
