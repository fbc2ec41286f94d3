package main

import (
	"encoding/json"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/ending"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
)

// refusing is a stdout that refuses every write.
type refusing struct{ err error }

func (r refusing) Write([]byte) (int, error) { return 0, r.err }

// runInto runs a command whose stdout fails with err; with nil it does not fail.
func runInto(t *testing.T, err error, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs strings.Builder
	e := terminal.Terminal{
		Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errs, Environ: []string{"NO_COLOR=1"}, Dir: t.TempDir(),
		Now: time.Now,
	}
	if err != nil {
		e.Stdout = refusing{&os.PathError{Op: "write", Path: "stdout", Err: err}}
	}
	return run(t.Context(), args, e), out.String(), errs.String()
}

func TestOutputThatIsLost(t *testing.T) {
	for _, c := range []struct {
		args string
		err  error
		code int
		said string // on stderr
	}{
		{"version", syscall.ENOSPC, failure.ExitResource, "could not be written: "},
		{"version --json", syscall.ENOSPC, failure.ExitResource, "fix: free some space on the disk"},
		{"schema", syscall.ENOSPC, failure.ExitResource, "fix: free some space on the disk"},
		{"--help", syscall.EIO, failure.ExitResource, "could not be written: "},
		{"version --json --bogus", syscall.ENOSPC, failure.ExitUsage, "unknown flag: --bogus"},
		{"version", terminal.ErrReaderGone, 0, ""},
		{"version --json", terminal.ErrReaderGone, 0, ""},
		{"version", nil, 0, ""},
	} {
		t.Run(c.args, func(t *testing.T) {
			code, _, stderr := runInto(t, c.err, strings.Fields(c.args)...)
			if code != c.code || !strings.Contains(stderr, c.said) || c.said == "" && stderr != "" {
				t.Errorf("%s with %v: exit %d, %q", c.args, c.err, code, stderr)
			}
		})
	}
}

// A command that prints lines of JSON prints its failure as one of the lines.
func TestFailuresAmongLines(t *testing.T) {
	for _, args := range []string{
		"dev nowhere --json", "--json dev --bogus", "platform --seed other --json", "events tail nowhere --json",
		"logs nowhere --follow --json",
	} {
		t.Run(args, func(t *testing.T) {
			code, stdout, _ := runInto(t, nil, strings.Fields(args)...)
			line, rest, _ := strings.Cut(stdout, "\n")
			var doc ending.FailureReport
			if err := json.Unmarshal([]byte(line), &doc); code == 0 || err != nil || rest != "" || doc.OK || doc.Code == "" {
				t.Errorf("%s: exit %d, %q, %v", args, code, stdout, err)
			}
		})
	}
}

func TestRefusedAmongLines(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(dir+"/pages.deploy.json", []byte(`{"entry": 1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	code, stdout, _ := runInto(t, nil, "dev", dir, "--json")
	var report struct{ Diagnostics []struct{ Code string } }
	err := json.Unmarshal([]byte(stdout), &report)
	if code != failure.ExitRefused || strings.Count(stdout, "\n") != 1 || err != nil || len(report.Diagnostics) == 0 {
		t.Errorf("exit %d, %q, %v", code, stdout, err)
	}
}
