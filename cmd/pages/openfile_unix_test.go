//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localsecrets"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest"
)

// pipeAt replaces a file by a pipe without a writer.
func pipeAt(t *testing.T, file string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(file, 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestPipesForFiles puts pipes in place of a site's files: the commands refuse them, and do not wait.
func TestPipesForFiles(t *testing.T) {
	for _, c := range []struct{ file, command, want string }{
		{manifest.FileName, "validate", "it is not a regular file"},
		{manifest.FileName, "migrate", "it is not a regular file"},
		{".pages/members.json", "test -- true", "members.json:1:1: it is not a regular file"},
		{".pages/link.json", "whoami", "link.json cannot be read: it is not a regular file"},
		{"seed.sql", "state seed", `"seed.sql" cannot be read: it is not a regular file`},
		{"pages-env.d.ts", "types", "cannot be read: it is not a regular file"},
		{"package.json", "doctor", "package.json cannot be read: it is not a regular file"},
		{"package.json", "init --yes", "package.json is not a file"},
		{"wrangler.json", "validate", "fix: replace it with a file, or remove it"},
	} {
		t.Run(c.command+" "+c.file, func(t *testing.T) {
			dir := t.TempDir()
			if c.file != manifest.FileName && c.command != "init --yes" {
				put(t, filepath.Join(dir, manifest.FileName), `{"bindings": {"database": {}}}`)
			}
			pipeAt(t, filepath.Join(dir, c.file))
			out := &testmachine.Buffer{}
			e := terminal.Terminal{Stdin: strings.NewReader(""), Stdout: out, Stderr: out, Environ: os.Environ(), Dir: dir, Now: time.Now}
			ended := make(chan int, 1)
			go func() { ended <- run(t.Context(), strings.Fields(c.command), e) }()
			select {
			case <-ended:
			case <-time.After(patience):
				t.Fatalf("%s waits for who writes %s", c.command, c.file)
			}
			if !strings.Contains(out.String(), c.want) {
				t.Errorf("%s with %s:\n%s", c.command, c.file, out)
			}
		})
	}
}

// TestSecretsOfAPipe: a password manager may provide the secrets through a pipe.
func TestSecretsOfAPipe(t *testing.T) {
	dir := t.TempDir()
	pipe := filepath.Join(dir, ".dev.vars")
	pipeAt(t, pipe)
	put(t, filepath.Join(dir, manifest.FileName), `{"bindings": {"secrets": ["A"]}}`)
	written := make(chan error, 1)
	go func() { written <- os.WriteFile(pipe, []byte("A=of a pipe\n"), 0o600) }()
	values, found, err := localsecrets.Read(t.Context(), dir)
	if err != nil || found != ".dev.vars" || values["A"] != "of a pipe" {
		t.Errorf("%v of %q, %v", values, found, err)
	}
	if err := <-written; err != nil {
		t.Error(err)
	}
	opened := make(chan *os.File, 1)
	go func() { // opening succeeds after the command has begun to read
		f, _ := os.OpenFile(pipe, os.O_WRONLY, 0)
		opened <- f
	}()
	reads := func(string) bool {
		select {
		case f := <-opened:
			t.Cleanup(func() { _ = f.Close() })
			return true
		default:
			return false
		}
	}
	if code, stderr := interrupted(t, reads, "doctor", "-C", dir); code != failure.ExitInt {
		t.Errorf("exit code %d\n%s", code, stderr)
	}
}

// TestPipesThatAreMeant reads the pipes that a shell passes as /dev/stdin, or as <(…).
func TestPipesThatAreMeant(t *testing.T) {
	dir := t.TempDir()
	put(t, filepath.Join(dir, manifest.FileName), `{"bindings": {"database": {}}}`)
	for _, c := range []struct{ stdin, command, want string }{
		{"CREATE TABLE t (a);\n", "db exec --file /dev/stdin", "ran 1 statement"},
		{"a\n1\n2\n", "db import --format csv --table t /dev/stdin", "wrote 2 rows"},
		{"a\n3\n", "db import --format csv --table t -", "wrote 1 row"},
		{"{}", "validate /dev/stdin", "/dev/stdin is valid"},
	} {
		t.Run(c.command, func(t *testing.T) {
			cmd := exec.Command(program(t), strings.Fields(c.command)...)
			cmd.Dir = dir
			in, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			go func() {
				_, _ = io.WriteString(in, c.stdin) // a failure shows in the output of the command
				_ = in.Close()
			}()
			if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), c.want) {
				t.Errorf("%s: %v\n%s", c.command, err, out)
			}
		})
	}
}
