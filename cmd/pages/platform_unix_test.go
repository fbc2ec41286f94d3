//go:build unix

package main

import (
	"bufio"
	"bytes"
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

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/oracle"
)

// platformRun is a running `pages platform --seed demo --json`.
type platformRun struct {
	readyLine
	cmd    *exec.Cmd
	stderr *lockedBuffer
	client *http.Client
}

// described holds what a service answers to its description.
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
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	p := &platformRun{stderr: &lockedBuffer{}, client: &http.Client{Timeout: patience, Transport: described(t).Transport(&http.Transport{})}}
	p.cmd = exec.Command(path, append([]string{"platform", "--data", data, "--port", "0", "--seed", "demo", "--json", "--rate-limit", "1000000"}, args...)...)
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
	if err := json.Unmarshal(first, &p.readyLine); err != nil {
		t.Fatalf("%s: %v", first, err)
	}
	return p
}

// end signals the process and returns its exit code; -1 when it was killed.
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

// call calls a tool; an error is a connection that ended.
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
		t.Errorf("%+v", p.readyLine)
	}
	if status, text, err := p.call(p.Keys["member"], "brand_profile.status", ""); err != nil || status != 200 || !strings.Contains(text, `"workspace":"acme"`) {
		t.Errorf("%d %s %v", status, text, err)
	}
	run := func(args ...string) (string, int) {
		t.Helper()
		path, err := binary()
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.Command(path, append([]string{"platform"}, append(args, "--data", data)...)...)
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		var exit *exec.ExitError
		if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
			t.Fatal(err)
		}
		return strings.TrimSpace(out.String()), cmd.ProcessState.ExitCode()
	}
	// An operator beside the service that runs.
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
	if out, code := run("--port", "0"); code != exitResource || !strings.Contains(out, "another pages platform uses") {
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
	if code := startPlatform(t, data).end(t, syscall.SIGTERM); code != exitTerm {
		t.Errorf("SIGTERM: exit %d", code)
	}
}

// TestPlatformLosesNothing is H-015, C-021 and H-054: however the service ends under
// load, what was acknowledged is there, and what is tried again happens once.
func TestPlatformLosesNothing(t *testing.T) {
	data := t.TempDir()
	calls, cut := 0, 0
	published := 0
	const rounds = 12
	for round := range rounds {
		how := []os.Signal{os.Kill, syscall.SIGTERM}[round%2]
		p := startPlatform(t, data)
		var group sync.WaitGroup
		group.Go(func() { // drafts: one change for each key
			for {
				tool := []string{"automations.undo_draft", "automations.redo_draft"}[calls%2]
				key := fmt.Sprint("key-", calls)
				status, text, err := p.call(p.Keys["member"], tool, `{"board_id":"`+p.Demo["board_id"]+`"}`, "Idempotency-Key", key)
				if err != nil || status == http.StatusServiceUnavailable {
					cut++
					return // tried again in the next round
				}
				if want := fmt.Sprintf(`"revision":%d,`, 5+calls); status != 200 || !strings.Contains(text, want) {
					t.Errorf("round %d, %s: want %s: %d %s", round, key, want, status, text)
				}
				calls++
			}
		})
		group.Go(func() { // publishes: proposed and confirmed
			for {
				if err := p.publish(); err != nil {
					return
				}
				published++
			}
		})
		timer := time.NewTimer(time.Duration(50+rand.IntN(200)) * time.Millisecond)
		<-timer.C
		p.end(t, how)
		group.Wait()
	}
	db, err := openSQLite(t.Context(), filepath.Join(data, platformDB), true)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	var effects, audited, answered, drafts int
	row := db.QueryRowContext(t.Context(), `SELECT (SELECT count(*) FROM publishes WHERE request_id <> 'seed'),
		(SELECT count(*) FROM audit WHERE tool = 'page.publish' AND outcome = 'done'), (SELECT count(*) FROM proposals WHERE answer IS NOT NULL),
		(SELECT count(*) FROM audit WHERE tool LIKE 'automations.%' AND outcome = 'done')`)
	if err := row.Scan(&effects, &audited, &answered, &drafts); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d drafts, %d calls cut short; %d publishes of which %d were acknowledged", calls, cut, effects, published)
	if effects != audited || effects != answered || effects < published || effects > published+rounds || drafts < calls || drafts > calls+1 || calls == 0 || published == 0 {
		t.Errorf("%d publishes, %d audited, %d answers kept, %d acknowledged; %d drafts audited, %d acknowledged", effects, audited, answered, published, drafts, calls)
	}
}

// publish makes the one of the two newest revisions live that is not.
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
		status, text, err := p.call(p.Keys["member"], tool, body)
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
