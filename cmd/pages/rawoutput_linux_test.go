package main

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestHostileAtTerminal prints text of a stranger: a terminal gets it escaped, and a pipe gets the bytes.
func TestHostileAtTerminal(t *testing.T) {
	const hostile = "\x1b]0;owned\x07\x1b[2J\u009b31m\u202ex"
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"bindings": {"database": {"migrations": "migrations"}}}`)
	put(t, filepath.Join(dir, "migrations", "0001_a.sql"), "CREATE TABLE t (a TEXT);")
	put(t, filepath.Join(dir, "insert.sql"), "INSERT INTO t VALUES ('gr\u00fc\u00dfe\t"+hostile+"');")
	pages := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program(t), args...)
		cmd.Dir = dir
		return cmd
	}
	for _, args := range [][]string{{"migrate"}, {"db", "exec", "--file", "insert.sql"}} {
		if out, err := pages(args...).CombinedOutput(); err != nil {
			t.Fatalf("%v: %v\n%s", args, err, out)
		}
	}
	for _, args := range [][]string{
		{"db", "dump"},
		{"db", "query", "SELECT a FROM t", "--format", "csv"},
		{"db", "query", "SELECT a FROM t", "--format", "tsv"},
		{"db", "query", "SELECT a FROM t"},
		{"db", "query", "SELECT a FROM t", "--format", "jsonl"},
	} {
		t.Run(strings.Join(args, " "), func(t *testing.T) {
			at := startAtTerminal(t, pages(append(args, "--color", "never")...))
			code, shown := at.end()
			if code != 0 || !strings.Contains(shown, "grüße") || !strings.Contains(shown, `\x1b`) && !strings.Contains(shown, `\u001b`) ||
				strings.ContainsAny(shown, "\x1b\x07\u009b\u202e") {
				t.Errorf("%v: exit code %d: %q", args, code, shown)
			}
			if args[1] == "dump" && !strings.Contains(shown, "note: 5 characters are shown as an escape") {
				t.Errorf("nothing is said of it: %s", shown)
			}
		})
	}
	if out, err := pages("db", "dump").Output(); err != nil || !strings.Contains(string(out), hostile) {
		t.Errorf("a pipe got %v %q", err, out)
	}
}
