//go:build unix

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/platform"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/oracle"
)

// platformRun is a running `pages platform --seed demo --json`.
type platformRun struct {
	platform.Ready
	data   string
	cmd    *exec.Cmd
	stderr *testmachine.Buffer
	client *http.Client
}

// described checks the responses of a service against its OpenAPI document.
func described(t *testing.T) *oracle.Oracle {
	t.Helper()
	document, err := toolapi.NewContract().OpenAPI()
	if err != nil {
		t.Fatal(err)
	}
	return oracle.New(t, document)
}

func startPlatform(t *testing.T, data string, args ...string) *platformRun {
	t.Helper()
	return startPlatformAs(t, data, func(*exec.Cmd) {}, args...)
}

// startPlatformAs changes the command before it starts.
func startPlatformAs(t *testing.T, data string, change func(*exec.Cmd), args ...string) *platformRun {
	t.Helper()
	path := program(t)
	p := &platformRun{
		data: data, stderr: &testmachine.Buffer{},
		client: &http.Client{Timeout: patience, Transport: described(t).Transport(&http.Transport{})},
	}
	p.cmd = exec.Command(
		path,
		append([]string{"platform", "--data", data, "--port", "0", "--seed", "demo", "--json", "--rate-limit", "1000000"}, args...)...,
	)
	p.cmd.Stderr = p.stderr
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	change(p.cmd)
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.end(t, os.Kill) })
	first, err := bufio.NewReader(stdout).ReadBytes('\n')
	if err != nil {
		t.Fatalf("no first line: %v\n%s", err, p.stderr)
	}
	if err := json.Unmarshal(first, &p.Ready); err != nil {
		t.Fatalf("%s: %v", first, err)
	}
	return p
}

// end signals the process and returns its exit code; -1 if it was killed.
func (p *platformRun) end(t *testing.T, s os.Signal) int {
	t.Helper()
	p.client.CloseIdleConnections()
	if p.cmd.ProcessState == nil {
		_ = p.cmd.Process.Signal(s) // it may have ended
		timer := time.AfterFunc(patience, func() { _ = p.cmd.Process.Kill() })
		defer timer.Stop()
		var exit *exec.ExitError
		if err := p.cmd.Wait(); err != nil && !errors.As(err, &exit) {
			t.Error(err)
		}
	}
	return p.cmd.ProcessState.ExitCode()
}

// call calls a tool; it fails if the connection ended.
func (p *platformRun) call(key, tool, body string, header ...string) (status int, text string, err error) {
	r, err := http.NewRequest(http.MethodPost, p.URL+"/api/v1/tools/"+tool, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	r.Header.Set("Authorization", "Bearer "+key)
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := p.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(answer), err
}

// TestPlatform runs the service as its users do.
func TestPlatform(t *testing.T) {
	data := t.TempDir()
	p := startPlatform(t, data)
	if p.MCPPath != "/mcp" || len(p.Keys) != 8 || !slices.Equal(p.Workspaces, []string{"acme", "globex"}) || p.Demo["site_id"] == "" {
		t.Errorf("%+v", p.Ready)
	}
	if status, text, err := p.call(p.Keys["member"], "brand_profile.status", ""); err != nil || status != 200 ||
		!strings.Contains(text, `"workspace":"acme"`) {
		t.Errorf("%d %s %v", status, text, err)
	}
	run := func(args ...string) (string, int) {
		t.Helper()
		path := program(t)
		cmd := exec.Command(path, append([]string{"platform"}, append(args, "--data", data)...)...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return strings.TrimSpace(out.String()), cmd.ProcessState.ExitCode()
	}
	// An operator's command beside the running service.
	key, code := run("keys", "create", "ana@acme.test", "--name", "beside")
	if status, text, err := p.call(key, "brand_profile.status", ""); err != nil || status != 200 || code != 0 {
		t.Errorf("%d %s %v, exit %d", status, text, err, code)
	}
	if out, code := run("keys", "revoke", "9"); code != 0 {
		t.Errorf("%d %s", code, out)
	}
	if status, text, err := p.call(key, "brand_profile.status", ""); err != nil || status != 401 {
		t.Errorf("%d %s %v", status, text, err)
	}
	if out, code := run("--port", "0"); code != failure.ExitResource ||
		!strings.Contains(out, fmt.Sprintf("another pages platform (process %d) uses", p.cmd.Process.Pid)) {
		t.Errorf("%d %s", code, out)
	}
	if code := p.end(t, os.Interrupt); code != 0 {
		t.Errorf("Ctrl-C: exit %d", code)
	}
	if out, _ := run("keys", "list", "--json"); !strings.Contains(out, `"last_used_at": "2`) {
		t.Errorf("when keys were used was not written down: %s", out)
	}
	for name, secret := range p.Keys {
		if strings.Contains(p.stderr.String(), secret) {
			t.Errorf("the key %s is in the log", name)
		}
	}
	if code := startPlatform(t, data).end(t, syscall.SIGTERM); code != failure.ExitTerm {
		t.Errorf("SIGTERM: exit %d", code)
	}
}

// callMCP calls a tool over MCP, with the idempotency key as an argument.
func (p *platformRun) callMCP(key, tool, body string, header ...string) (status int, text string, err error) {
	var arguments map[string]any
	if err := json.Unmarshal([]byte(cmp.Or(body, "{}")), &arguments); err != nil {
		return 0, "", err
	}
	if len(header) == 2 {
		arguments["idempotency_key"] = header[1]
	}
	message, err := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": arguments},
	})
	if err != nil {
		return 0, "", err
	}
	r, err := http.NewRequest(http.MethodPost, p.URL+p.MCPPath, bytes.NewReader(message))
	if err != nil {
		return 0, "", err
	}
	r.Header = http.Header{
		"Authorization": {"Bearer " + key}, "Content-Type": {"application/json"},
		"Accept": {"application/json, text/event-stream"}, "Mcp-Protocol-Version": {"2025-11-25"},
	}
	resp, err := p.client.Do(r)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	var answer struct {
		Result struct {
			Content json.RawMessage `json:"structuredContent"`
		}
		Error json.RawMessage
	}
	if err := json.NewDecoder(resp.Body).Decode(&answer); err != nil {
		return 0, "", err
	}
	if answer.Error != nil {
		return resp.StatusCode, string(answer.Error), nil
	}
	return resp.StatusCode, string(answer.Result.Content), nil
}

// ways are both ways to call a tool.
func (p *platformRun) ways() [2]func(key, tool, body string, header ...string) (int, string, error) {
	return [2]func(key, tool, body string, header ...string) (int, string, error){p.call, p.callMCP}
}

// platformLoad records the responses that callers got.
type platformLoad struct {
	drafts, cut int
	publishes   int
	pages       []string // names of created sites
}

// run calls in both ways until the service is gone.
func (l *platformLoad) run(t *testing.T, p *platformRun) {
	t.Helper()
	var group sync.WaitGroup
	group.Go(func() { // drafts: one change for each key
		for {
			tool := []string{"automations.undo_draft", "automations.redo_draft"}[l.drafts%2]
			key := fmt.Sprint("key-", l.drafts)
			status, text, err := p.ways()[rand.IntN(2)](p.Keys["member"], tool, `{"board_id":"`+p.Demo["board_id"]+`"}`,
				"Idempotency-Key", key) //nolint:gosec // a choice
			if err != nil || status == http.StatusServiceUnavailable {
				l.cut++
				return // tried again in the next round, maybe in the other way
			}
			if want := fmt.Sprintf(`"revision":%d,`, 5+l.drafts); status != 200 || !strings.Contains(text, want) {
				t.Errorf("%s: want %s: %d %s", key, want, status, text)
			}
			l.drafts++
		}
	})
	group.Go(func() { // publishes: proposed and confirmed
		for p.publish() == nil {
			l.publishes++
		}
	})
	group.Go(func() { // sites: up to the limit
		for {
			name := fmt.Sprint("Page-", len(l.pages))
			status, text, err := p.ways()[rand.IntN(2)](p.Keys["both"], "page.create", `{"name":"`+name+`","workspace":"acme"}`,
				"Idempotency-Key", name) //nolint:gosec // a choice
			if err != nil || status == http.StatusServiceUnavailable || strings.Contains(text, "too_many_pages") {
				return
			}
			if status != 200 || !strings.HasPrefix(text, `{"ok":true`) {
				t.Errorf("%s: %d %s", name, status, text)
				return
			}
			l.pages = append(l.pages, name)
		}
	})
	group.Wait()
}

// didAll reports whether callers got a response of each kind.
func (l *platformLoad) didAll() bool { return l.drafts > 0 && l.publishes > 0 && len(l.pages) > 0 }

// platformEffects counts the effects in the database.
type platformEffects struct{ publishes, audited, answered, drafts, pages, named int }

func readEffects(t *testing.T, data string) (e platformEffects) {
	t.Helper()
	db, err := localstate.OpenDatabase(t.Context(), filepath.Join(data, platform.DatabaseFile), true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	row := db.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM publishes WHERE request_id <> 'seed'),
		(SELECT count(*) FROM audit WHERE tool = 'page.publish' AND outcome = 'done'),
			(SELECT count(*) FROM proposals WHERE answer IS NOT NULL),
		(SELECT count(*) FROM audit WHERE tool LIKE 'automations.%' AND outcome = 'done'),
		(SELECT count(*) FROM sites WHERE name LIKE 'Page-%'), (SELECT count(DISTINCT name) FROM sites WHERE name LIKE 'Page-%')`)
	if err := row.Scan(&e.publishes, &e.audited, &e.answered, &e.drafts, &e.pages, &e.named); err != nil {
		t.Fatal(err)
	}
	return e
}

// TestPlatformLosesNothing: however the service ends under load, acknowledged changes are there, and a retried request takes effect once. A
// graceful shutdown completes the open requests: each effect has its response.
func TestPlatformLosesNothing(t *testing.T) {
	rounds := 10
	switch {
	case os.Getenv("PAGES_SOAK") != "":
		rounds = 400 // every other end is a kill
	case testing.Short():
		rounds = 4
	}
	data := t.TempDir()
	var l platformLoad
	untold, untoldDrafts, untoldPages := 0, 0, 0
	for round := 0; round < rounds || round < 10*rounds && !l.didAll(); round++ {
		before, how := l, []os.Signal{os.Kill, syscall.SIGTERM}[round%2]
		p := startPlatform(t, data)
		ended := make(chan int)
		time.AfterFunc(time.Duration(50+rand.IntN(200))*time.Millisecond, func() { ended <- p.end(t, how) }) //nolint:gosec // a choice
		l.run(t, p)
		code := <-ended
		e := readEffects(t, data)
		if l.drafts > before.drafts { // the calls without a response are retried first
			untoldDrafts = 0
		}
		if len(l.pages) > len(before.pages) {
			untoldPages = 0
		}
		if how == syscall.SIGTERM {
			if code != failure.ExitTerm || e.publishes != l.publishes+untold || e.drafts != l.drafts+untoldDrafts ||
				e.pages != len(l.pages)+untoldPages {
				t.Errorf(
					"round %d: exit %d, %+v, told were %d publishes, %d drafts, %d pages; %d, %d and %d of rounds before were not",
					round, code, e, l.publishes, l.drafts, len(l.pages), untold, untoldDrafts, untoldPages,
				)
			}
		}
		untold, untoldDrafts, untoldPages = e.publishes-l.publishes, e.drafts-l.drafts, e.pages-len(l.pages)
		if e.publishes != e.audited || e.publishes != e.answered || untold < 0 || untold > round+1 || e.drafts < l.drafts ||
			e.drafts > l.drafts+1 || e.pages != e.named || e.pages < len(l.pages) || e.pages > len(l.pages)+1 {
			t.Fatalf("round %d: %+v, told were %d publishes, %d drafts, %d pages", round, e, l.publishes, l.drafts, len(l.pages))
		}
	}
	t.Logf(
		"%d drafts, %d calls cut short; %d publishes, %d more without a response; %d pages", l.drafts, l.cut,
		l.publishes, untold, len(l.pages),
	)
	if !l.didAll() {
		t.Error("nothing was done")
	}
}

// publish publishes that one of the two newest revisions that is not live; it proposes in one way, and confirms in one.
func (p *platformRun) publish() error {
	type page struct {
		SiteID    string `json:"site_id"`
		Live      string `json:"live_revision"`
		Revisions []string
	}
	var list struct{ Pages []page }
	var proposal struct {
		ID string `json:"confirmation_id"`
	}
	ask := func(tool, body string) error {
		status, text, err := p.ways()[rand.IntN(2)](p.Keys["member"], tool, body) //nolint:gosec // a choice
		if err == nil && (status != http.StatusOK || !strings.HasPrefix(text, `{"ok":true`)) {
			err = errors.New(text)
		}
		if err != nil {
			return err
		}
		return errors.Join(json.Unmarshal([]byte(text), &list), json.Unmarshal([]byte(text), &proposal))
	}
	if err := ask("page.list", ""); err != nil {
		return err
	}
	site := list.Pages[slices.IndexFunc(list.Pages, func(it page) bool { return it.SiteID == p.Demo["site_id"] })]
	other := site.Revisions[0]
	if other == site.Live {
		other = site.Revisions[1]
	}
	args := `{"site_id":"` + site.SiteID + `","revision":"` + other + `"`
	if err := ask("page.publish", args+"}"); err != nil {
		return err
	}
	return ask("page.publish", args+`,"confirmation_id":"`+proposal.ID+`"}`)
}
