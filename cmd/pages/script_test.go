package main

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

var update = flag.Bool("update", false, "write the goldens of the scripts anew")

func TestMain(m *testing.M) {
	testscript.Main(tests{m}, map[string]func(){"pages": main})
}

// tests are all tests. They leave no files: testscript.Main ends the process.
type tests struct{ *testing.M }

func (t tests) Run() int {
	code := t.M.Run()
	if err := os.RemoveAll(builtIn); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

const (
	sites   = "../../testdata/sites"
	scripts = "../../testdata/script"
	// patience bounds every wait for a server: generously, since machines may be slow and a passing test does not wait.
	patience = 2 * time.Minute
)

// TestScripts runs the command as its users do: testdata/script/*.txtar.
func TestScripts(t *testing.T) {
	cache := t.TempDir()
	testscript.Run(t, testscript.Params{
		Dir:                 scripts,
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup: func(e *testscript.Env) error {
			e.Setenv("XDG_CACHE_HOME", cache)
			e.Setenv("HOME", e.WorkDir)
			e.Setenv("NO_COLOR", "1")
			packages, err := filepath.Abs(filepath.Join(sites, "workerd", "node_modules"))
			e.Setenv("WORKERD", packages)
			return err
		},
		Condition: func(name string) (bool, error) {
			switch name {
			case "raced":
				return testmachine.Raced() && testing.Short(), nil
			case "workerd":
				_, err := os.Stat(filepath.Join(sites, "workerd", "node_modules", "workerd"))
				if err != nil && os.Getenv(testmachine.Variable) != "" {
					return false, fmt.Errorf("this machine lacks workerd: make site: %w", err)
				}
				return err == nil, nil
			}
			return false, fmt.Errorf("%q is no condition", name)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"site": copySite, "url": waitURL, "http": request, "hold": hold, "id": findID, "await": await,
			"platform": servePlatform, "confirmation": confirmation, "prove": prove, "document": holdDocument, "exits": exits,
			"github": serveGitHub, "workflow": runWorkflow,
		},
	})
}

// copySite is `site NAME [DIR]`: copies an example site, without its state.
func copySite(ts *testscript.TestScript, _ bool, args []string) {
	target := ts.MkAbs(filepath.Base(args[0]))
	if len(args) > 1 {
		target = ts.MkAbs(args[1])
	}
	ts.Check(copyTo(target, args[0]))
}

// waitURL is `url DIR` or `url --state DIR`: it waits for the dev server of the site in DIR, or of the state in DIR, and puts its address
// into $URL.
func waitURL(ts *testscript.TestScript, _ bool, args []string) {
	file := filepath.Join(ts.MkAbs(args[0]), ".pages", "state", statefolder.DevFile)
	if args[0] == "--state" {
		file = filepath.Join(ts.MkAbs(args[1]), statefolder.DevFile)
	}
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(5 * time.Millisecond) {
		var r localstate.DevServer
		text, err := os.ReadFile(file)
		if err == nil && json.Unmarshal(text, &r) == nil {
			ts.Setenv("URL", r.URL)
			return
		}
	}
	ts.Fatalf("no dev server on %s in %v", args[0], patience)
}

// findID is `id leads|events WORD DIR [FLAG…]`: it puts the id of the newest lead or event whose line has the word into $ID.
func findID(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(ts.Exec("pages", append([]string{args[0], "list"}, args[2:]...)...))
	for line := range strings.Lines(ts.ReadFile("stdout")) {
		if words := strings.Fields(line); slices.Contains(words, args[1]) {
			ts.Setenv("ID", words[2])
			return
		}
	}
	ts.Fatalf("no line has %q", args[1])
}

// await is `await PATTERN exec COMMAND…`: it runs a command until its stdout matches.
func await(ts *testscript.TestScript, _ bool, args []string) {
	pattern := regexp.MustCompile(`(?m)` + args[0])
	for end := time.Now().Add(patience); time.Now().Before(end); <-time.After(20 * time.Millisecond) {
		ts.Check(ts.Exec(args[2], args[3:]...))
		if pattern.MatchString(ts.ReadFile("stdout")) {
			return
		}
	}
	ts.Fatalf("not in %v: %s", patience, args[0])
}

// exits is `exits CODE COMMAND…`: runs a command, which must end with that exit code.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	code := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		ended, ok := errors.AsType[*exec.ExitError](err)
		if !ok {
			ts.Fatalf("%v", err)
		}
		code = ended.ExitCode()
	}
	if strconv.Itoa(code) != args[0] {
		ts.Fatalf("it ended with %d, want %s", code, args[0])
	}
}

// request is `http STATUS METHOD URL [-H 'Name: value']… [BODY]`: sends one
// request, checks the status and prints head and body to stdout.
func request(ts *testscript.TestScript, _ bool, args []string) {
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	method, url, rest := args[1], args[2], args[3:]
	header := http.Header{}
	for len(rest) >= 2 && rest[0] == "-H" {
		name, value, _ := strings.Cut(rest[1], ": ")
		header.Set(name, value)
		rest = rest[2:]
	}
	body := strings.Join(rest, " ")
	if file, ok := strings.CutPrefix(body, "@"); ok {
		body = ts.ReadFile(file)
	}
	r, err := http.NewRequest(method, url, strings.NewReader(body))
	ts.Check(err)
	r.Header, r.Host = header, header.Get("Host")
	client := http.Client{Timeout: patience, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(r)
	ts.Check(err)
	defer resp.Body.Close()
	ts.Check(resp.Header.Write(ts.Stdout()))
	_, err = io.WriteString(ts.Stdout(), "\n")
	ts.Check(err)
	_, err = io.Copy(ts.Stdout(), resp.Body)
	ts.Check(err)
	if resp.StatusCode != want {
		ts.Fatalf("%s %s: status %d, want %d", method, url, resp.StatusCode, want)
	}
}
