package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// shaky is a module with a test of each kind.
const shaky = `
-- go.mod --
module shaky

go 1.26
-- top_test.go --
package shaky

import "testing"

func TestOrdinary(t *testing.T) {}
-- loops/loops_test.go --
package loops

import (
	"os"
	"testing"
)

func long() bool { return os.Getenv("PAGES_SOAK") != "" }

func TestLoop(t *testing.T) {
	if !long() {
		t.Fatal("it was not asked for the long loop")
	}
}

func TestLeaky(t *testing.T) {
	if rounds() > 1 {
		t.Error("it leaks in round 7")
	}
}

func rounds() int {
	if long() {
		return 100
	}
	return 1
}

func TestPowerless(t *testing.T) {
	if long() {
		t.Skip("needs a disk")
	}
}

func FuzzText(f *testing.F) {
	f.Fuzz(func(*testing.T, string) {})
}
-- testdata/ignored_test.go --
package ignored
`

func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(shaky)).Files {
		path := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestSource: a test that asks for the variable is found, also through functions.
func TestSource(t *testing.T) {
	list, err := testPackages(module(t))
	if err != nil || len(list) != 2 {
		t.Fatalf("%+v, %v", list, err)
	}
	p := list[1]
	if list[0].path != "." || p.path != "./loops" || strings.Join(p.fuzzers, " ") != "FuzzText" ||
		strings.Join(p.soaks, " ") != "TestLeaky TestLoop TestPowerless" {
		t.Errorf("%+v", list)
	}
}

// TestSoak: a failure stops no other job, and the summary has all of them.
func TestSoak(t *testing.T) {
	t.Chdir(module(t))
	t.Setenv("GOFLAGS", "-mod=mod")
	var out, progress bytes.Buffer
	if code := run(t.Context(), []string{"--for", "1ms", "--logs", "logs", "tests"}, &out, &progress); code != exitFailed {
		t.Errorf("exit code %d\n%s", code, &progress)
	}
	for _, want := range []string{
		"tests  loops  ", "1 FAILED  Leaky Loop Powerless", "skipped: ./loops TestPowerless: loops_test.go:", "needs a disk",
		"FAILED: ./loops TestLeaky, after ", "it leaks in round 7", "PAGES_SOAK=1 go test -run '^TestLeaky$' -count 1 ./loops",
		"--- FAIL: TestLeaky", "3 runs: 1 ok, 1 failed, 1 skipped, 0 stopped, 0 not begun",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the summary lacks %q:\n%s", want, &out)
		}
	}
	for _, file := range []string{"logs/loops-TestLoop.log", "logs/loops-TestLeaky.log", "logs/summary.txt"} {
		if _, err := os.Stat(file); err != nil {
			t.Error(err)
		}
	}
}

// TestTimeUp distinguishes the end of a fuzzer's time from a finding.
func TestTimeUp(t *testing.T) {
	lines := func(said ...string) (out []byte) {
		for _, text := range said {
			out = fmt.Appendf(out, "{\"Action\":\"output\",\"Test\":\"FuzzText\",\"Output\":%q}\n", text+"\n")
		}
		return append(out, "{\"Action\":\"fail\",\"Test\":\"FuzzText\"}\n"...)
	}
	const deadline = "    context deadline exceeded"
	for _, c := range []struct {
		name, part string
		said       []string
		want       bool
	}{
		{"the time is up", "fuzz", []string{"fuzz: elapsed: 27s, execs: 9", "--- FAIL: FuzzText (27.04s)", deadline, "FAIL"}, true},
		{
			"a failing input", "fuzz",
			[]string{"--- FAIL: FuzzText (27.04s)", deadline, "    Failing input written to testdata/fuzz/FuzzText/a"},
			false,
		},
		{
			"a message of the fuzzer's own", "fuzz",
			[]string{"--- FAIL: FuzzText (27.04s)", "    a_test.go:9: got context deadline exceeded"},
			false,
		},
		{"a test", "tests", []string{"--- FAIL: TestText (27.04s)", deadline}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := result{job: job{part: c.part}}
			r.read(lines(c.said...))
			if r.timeUp != c.want {
				t.Errorf("%s %q: %v", c.part, c.said, r.timeUp)
			}
		})
	}
}

// TestRead separates the packages of one run, and finds failures far above the end of the output.
func TestRead(t *testing.T) {
	const out = `{"Action":"output","Package":"a","Output":"a begins\n"}
{"Action":"output","Package":"b","Output":"b begins\n"}
{"Action":"output","Package":"a","Test":"TestA","Output":"--- FAIL: TestA (0.00s)\n"}
{"Action":"output","Package":"b","Output":"ok b\n"}
{"Action":"output","Package":"a","Output":"FAIL a\n"}
`
	file := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(file, (&result{}).read([]byte(out)), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, want := strings.Join(end(file, 9), "; "),
		"--- FAIL: TestA (0.00s); a begins; --- FAIL: TestA (0.00s); FAIL a; b begins; ok b"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got, want := strings.Join(end(file, 2), "; "), "--- FAIL: TestA (0.00s); b begins; ok b"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// TestRaceOnce: there is a round under the race detector, however short the time, and without the variable.
func TestRaceOnce(t *testing.T) {
	testmachine.Long(t)
	if _, err := exec.LookPath("gcc"); err != nil {
		testmachine.Lacks(t, "a C compiler, for the race detector", err)
	}
	t.Chdir(module(t))
	t.Setenv("GOFLAGS", "-mod=mod")
	var out, progress bytes.Buffer
	if code := run(t.Context(), []string{"--for", "1ms", "--logs", "logs", "race"}, &out, &progress); code != exitFailed {
		t.Errorf("exit code %d\n%s", code, &progress)
	}
	for _, want := range []string{
		"1 FAILED  1 rounds", "it was not asked for the long loop",
		"1 runs: 0 ok, 1 failed, 0 skipped, 0 stopped, 0 not begun",
	} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("the summary lacks %q:\n%s", want, &out)
		}
	}
}

// TestInterrupted: the report lists the parts that did not begin, and the exit code is a signal's.
func TestInterrupted(t *testing.T) {
	t.Chdir(module(t))
	ctx, stop := context.WithCancel(t.Context())
	stop()
	var out, progress bytes.Buffer
	if code := run(ctx, []string{"--logs", "logs"}, &out, &progress); code != exitInterrupted ||
		!strings.Contains(out.String(), "0 ok, 0 failed, 0 skipped, 0 stopped, ") {
		t.Errorf("exit code %d\n%s%s", code, &out, &progress)
	}
	if code := run(ctx, []string{"everything"}, &out, &progress); code != exitUsage {
		t.Errorf("exit code %d", code)
	}
}

// TestFuzzTime: the fuzzer of the members gate has ten minutes of an hour.
func TestFuzzTime(t *testing.T) {
	s := &soak{budget: time.Hour}
	if gate, other := s.fuzzTime("FuzzGate", leastFuzz), s.fuzzTime("FuzzText", leastFuzz); gate != 10*time.Minute || other != leastFuzz {
		t.Errorf("FuzzGate has %v, others %v", gate, other)
	}
}
