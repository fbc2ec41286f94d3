package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/migration"
	"github.com/pages-toolchain/pages/cmd/internal/seed"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// migrationSite makes a site with the files in its folder of migrations.
func migrationSite(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public", "bindings": {"database": {"migrations": "migrations"}}}`)
	put(t, filepath.Join(dir, "public", "index.html"), "<!doctype html><title>x</title>")
	for name, text := range files {
		put(t, filepath.Join(dir, "migrations", name), text)
	}
	return dir
}

// pages runs the command and returns its output and exit code.
func pages(t *testing.T, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	return pagesReading(t, "", args...)
}

// pagesReading is pages with a text on stdin.
func pagesReading(t *testing.T, stdin string, args ...string) (stdout, stderr string, code int) {
	t.Helper()
	path := program(t)
	var out, errs testmachine.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(stdin), &out, &errs
	_ = cmd.Run() // the exit code shows it
	return out.String(), errs.String(), cmd.ProcessState.ExitCode()
}

// TestMigrateKilled: a runner that was killed while it held the lock does not block the next one.
func TestMigrateKilled(t *testing.T) {
	dir := migrationSite(t, map[string]string{"1.sql": "CREATE TABLE a(x);", "2.sql": endless})
	path := program(t)
	ctx, kill := context.WithCancel(t.Context())
	defer kill()
	cmd := exec.CommandContext(ctx, path, "migrate", dir)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	underWay := exists(filepath.Join(dir, ".pages/state/site.db-wal"))
	for end := time.Now().Add(patience); !underWay(""); <-time.After(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never under way")
		}
	}
	kill()
	_ = cmd.Wait() // killed
	put(t, filepath.Join(dir, "migrations", "2.sql"), "CREATE TABLE b(x);")
	if _, stderr, code := pages(t, "migrate", dir); code != 0 || !strings.Contains(stderr, "applied 2.sql") {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestMigrateAtOnce: all simultaneous commands succeed, and each file is applied once.
func TestMigrateAtOnce(t *testing.T) {
	files := map[string]string{}
	for i := range 20 {
		files[fmt.Sprintf("%02d.sql", i)] = fmt.Sprintf("CREATE TABLE t%d(x);", i)
	}
	dir := migrationSite(t, files)
	path := program(t)
	var cmds []*exec.Cmd
	var outs []*testmachine.Buffer
	for range 8 {
		cmd, out := exec.Command(path, "migrate", dir, "--json"), &testmachine.Buffer{}
		cmd.Stdout = out
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		cmds, outs = append(cmds, cmd), append(outs, out)
	}
	var applied []string
	for i, cmd := range cmds {
		if err := cmd.Wait(); err != nil {
			t.Errorf("%v\n%s", err, outs[i])
		}
		var doc migration.RunReport
		if err := json.Unmarshal([]byte(outs[i].String()), &doc); err != nil {
			t.Fatal(err)
		}
		for _, a := range doc.Applied {
			applied = append(applied, a.Name)
		}
	}
	slices.Sort(applied)
	if len(applied) != len(files) || len(slices.Compact(applied)) != len(files) {
		t.Errorf("applied %v", applied)
	}
}

// TestDevMigrates: pages dev applies pending migrations at its start and after a change, ignores a file without a statement, shows a failed
// migration and continues with the present database, and serves the database after an undo or a reset.
func TestDevMigrates(t *testing.T) {
	dir := migrationSite(t, map[string]string{"0001_a.sql": "CREATE TABLE a(x);"})
	d := startDev(t, dir)
	applied := func(names ...string) func() bool {
		return func() bool {
			var status migration.StatusReport
			runJSON(t, &status, "migrate", "status", dir, "--json")
			var got []string
			for _, a := range status.Applied {
				got = append(got, a.Name)
			}
			return slices.Equal(got, names)
		}
	}
	d.eventually("the first file is applied", applied("0001_a.sql"))
	stdout, stderr, code := pages(t, "migrate", "new", "tags", "-C", dir)
	if code != 0 {
		t.Fatal(stderr)
	}
	second := strings.TrimSpace(stdout)
	d.eventually("the empty file is reported", func() bool { return strings.Contains(d.stderr.String(), "has no statement yet") })
	if !applied("0001_a.sql")() {
		t.Error("a file without a statement was applied")
	}
	put(t, second, "CREATE TABLE tags(name);\nINSERT INTO tag VALUES ('x');\n")
	d.eventually("the failure is shown", func() bool { return strings.Contains(d.stderr.String(), "no such table: tag") })
	if got := d.stderr.String(); !strings.Contains(got, "0002_tags.sql:2:13") || !strings.Contains(got, "was rolled back") {
		t.Errorf("the failure is shown as\n%s", got)
	}
	put(t, second, "CREATE TABLE tags(name);\nINSERT INTO tags VALUES ('x');\n")
	d.eventually("the file is applied", applied("0001_a.sql", "0002_tags.sql"))
	if _, stderr, code := pages(t, "migrate", "undo", dir); code != 0 || !applied("0001_a.sql")() {
		t.Errorf("undo while dev runs: %d\n%s", code, stderr)
	}
	put(t, second, "CREATE TABLE tags(name, colour);\n")
	d.eventually("the edited file is applied", applied("0001_a.sql", "0002_tags.sql"))
	if _, stderr, code := pages(t, "migrate", "reset", "--yes", dir); code != 0 || !applied("0001_a.sql", "0002_tags.sql")() {
		t.Errorf("reset while dev runs: %d\n%s", code, stderr)
	}
	put(t, second, "CREATE TABLE tags(name, colour, size);\n")
	d.eventually("the edit is refused", func() bool { return strings.Contains(d.stderr.String(), "changed after it was applied") })
	if err := os.Remove(second); err != nil {
		t.Fatal(err)
	}
	d.eventually("the missing file is refused", func() bool { return strings.Contains(d.stderr.String(), "its file is missing") })
	put(t, second, "CREATE TABLE tags(name);\nINSERT INTO tags VALUES ('x');\n")
	if _, stderr, code := pages(t, "migrate", "reset", "--yes", dir); code != 0 {
		t.Errorf("reset: %d\n%s", code, stderr)
	}
	put(t, filepath.Join(dir, "pages.deploy.json"), "{\n  \"bindings\": {\"database\": {\"migrations\": \"migrations\", \"tables\": "+
		"[\"lost\"]}}\n}\n")
	d.eventually("the missing table is shown in the manifest", func() bool {
		return strings.Contains(d.stderr.String(), `pages.deploy.json:2:68: the manifest names the table "lost"`)
	})
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestDevHearsOfSeed: pages dev, stopped by a migration, continues after pages state seed has applied it.
func TestDevHearsOfSeed(t *testing.T) {
	dir := migrationSite(t, map[string]string{
		"1_a.sql": "CREATE TABLE a(x);\nINSERT INTO a VALUES (1), (1);",
		"2_b.sql": "CREATE UNIQUE INDEX b ON a(x);",
	})
	put(t, filepath.Join(dir, seed.FileName), "INSERT INTO a VALUES (2);\n")
	d := startDev(t, dir)
	d.eventually("the failure is shown", func() bool { return d.get("/").StatusCode == http.StatusInternalServerError })
	db, err := localstate.OpenDatabase(t.Context(), filepath.Join(dir, ".pages", "state", statefolder.SiteFile),
		false) // without a notice
	if err != nil {
		t.Fatal(err)
	}
	_, err = db.ExecContext(t.Context(), "DELETE FROM a")
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if _, stderr, code := pages(t, "state", "seed", dir); code != 0 {
		t.Fatal(stderr)
	}
	d.eventually("the site is served", func() bool { return d.get("/").StatusCode != http.StatusInternalServerError })
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestDevHearsOfRows: after a failed migration, pages dev continues as soon as a write to the database lets the migration pass.
func TestDevHearsOfRows(t *testing.T) {
	dir := migrationSite(t, map[string]string{"1_a.sql": "CREATE TABLE a(x);"})
	d := startDev(t, dir)
	csv, dump := filepath.Join(t.TempDir(), "b.csv"), filepath.Join(t.TempDir(), "site.sql")
	put(t, csv, "x\n1\n")
	put(t, dump, "CREATE TABLE three(x);\n")
	for i, step := range []struct {
		next, says string // the migration, and the reason why it cannot be applied yet
		stdin      string
		args       []string
	}{
		{"INSERT INTO a SELECT x FROM one;", "no such table: one", "", []string{"exec", "CREATE TABLE one(x)"}},
		{"INSERT INTO a SELECT x FROM two;", "no such table: two", "CREATE TABLE two(x);\n", []string{"shell"}},
		{"INSERT INTO a SELECT x FROM three;", "no such table: three", "", []string{"import", dump}},
		{"CREATE TABLE b(x NOT NULL);\nINSERT INTO b VALUES ((SELECT x FROM " +
			"a));", "NOT NULL constraint failed", "", []string{"import", csv, "--table", "a"}},
	} {
		name := fmt.Sprintf("%d_next.sql", i+2)
		put(t, filepath.Join(dir, "migrations", name), step.next)
		d.eventually("the failure is shown", func() bool { return strings.Contains(d.stderr.String(), step.says) })
		if _, stderr, code := pagesReading(t, step.stdin, append([]string{"db", "-C", dir}, step.args...)...); code != 0 {
			t.Fatal(stderr)
		}
		d.eventually("db "+step.args[0]+" lets it be applied", func() bool {
			var status migration.StatusReport
			runJSON(t, &status, "migrate", "status", dir, "--json")
			return slices.ContainsFunc(status.Applied, func(a migration.Item) bool { return a.Name == name })
		})
	}
	if code := d.stop(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}
