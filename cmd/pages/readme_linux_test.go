package main

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// reader is a reader of the README: a checkout, with the command in bin and the example site, and a home folder.
type reader struct {
	*testing.T

	root, home string
	manifest   string   // the example of a manifest
	blocks     []string // commands to type, in order
}

func newReader(t *testing.T) *reader {
	program := program(t)
	blocks := readReadme(t).blocks
	r := &reader{t, t.TempDir(), t.TempDir(), strings.Join(blocks["json"], ""), blocks["sh"]}
	if err := os.Mkdir(filepath.Join(r.root, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(program, filepath.Join(r.root, "bin", "pages")); err != nil {
		t.Fatal(err)
	}
	if err := copyTo(filepath.Join(r.root, "testdata", "sites", "riverside"), "riverside"); err != nil {
		t.Fatal(err)
	}
	return r
}

// shell is a shell that runs a text until a command in it fails.
func (r *reader) shell(script string) *exec.Cmd {
	cmd := exec.Command("bash", "--noprofile", "--norc", "-ec", script)
	cmd.Dir = r.root
	cmd.Env = []string{"HOME=" + r.home, "PATH=" + os.Getenv("PATH"), "TERM=dumb"}
	return cmd
}

// TestReadmeJourney follows the instructions of the README in their order, word for word. It
// does not run a new block by itself: it fails until the test knows the block.
func TestReadmeJourney(t *testing.T) {
	r := newReader(t)
	if len(r.blocks) != 4 {
		t.Fatalf("the README has %d blocks to type, and this test knows 4: %q", len(r.blocks), r.blocks)
	}
	r.begin()
	r.readManifest()
	r.sendForm()
	r.publish()
}

// begin checks the recipe of `make dev`, and does not run `make test`, which includes this test.
func (r *reader) begin() {
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		r.Fatal(err)
	}
	recipe := strings.NewReplacer("$(BIN)", "bin/pages", "$(SITE)", "testdata/sites/riverside").Replace(string(makefile))
	for _, command := range []string{
		"\ndev: build example\n\tbin/pages dev testdata/sites/riverside\n",
		"\nBIN     := bin/pages\nSITE    := testdata/sites/riverside\n",
	} {
		if !strings.Contains(recipe, command) {
			r.Errorf("the Makefile has no %q", command)
		}
	}
	if targets := regexp.MustCompile(`(?m)^make (\w+)`).FindAllString(r.blocks[0], -1); fmt.Sprint(targets) != "[make dev make test]" {
		r.Errorf("the README begins with %q", targets)
	}
}

// readManifest checks the example of a manifest, which is ten lines.
func (r *reader) readManifest() {
	if n := strings.Count(r.manifest, "\n"); n > 12 {
		r.Errorf("the manifest has %d lines", n)
	}
	if err := os.WriteFile(filepath.Join(r.root, "pages.deploy.json"), []byte(r.manifest), 0o600); err != nil {
		r.Fatal(err)
	}
	if out, err := r.shell("bin/pages validate --manifest-only --fail-on warning").CombinedOutput(); err != nil {
		r.Errorf("%s\n%s", r.manifest, out)
	}
}

// sendForm is the step with the form in "Five minutes".
func (r *reader) sendForm() {
	d := startDev(r.T, filepath.Join(r.root, "testdata", "sites", "riverside"))
	gate, err := url.Parse(strings.TrimPrefix(readmeGate, "curl -i "))
	if err != nil {
		r.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(d.dir, "public", "minutes", "index.html"))
	if err != nil {
		r.Fatal(err)
	}
	if a := d.get(gate.Path); a.StatusCode != http.StatusUnauthorized || strings.Contains(string(page), a.body) {
		r.Errorf("%s: %d %s", readmeGate, a.StatusCode, a.body)
	}
	form := url.Values{"form": {"membership"}, "name": {"Ada"}, "email": {"ada@example.org"}}
	if a := d.do(
		http.MethodPost, "/__pages/forms", form.Encode(), "Content-Type: application/x-www-form-urlencoded",
	); a.StatusCode != http.StatusSeeOther {
		r.Fatalf("the form: %d %s", a.StatusCode, a.body)
	}
	out, err := r.shell(r.blocks[1]).Output()
	if err != nil || bytes.Count(out, []byte(`"evt_`)) != 2 || !bytes.Contains(out, []byte("ada@example.org")) ||
		!bytes.Contains(out, []byte(`"pages.lead.captured"`)) || !bytes.Contains(out, []byte(`"custom.membership_requested"`)) {
		r.Errorf("%s: %v\n%s", r.blocks[1], err, out)
	}
	if code := d.stop(); code != 0 {
		r.Errorf("Ctrl-C ends with %d", code)
	}
}

// publish is "Publish", by a person at a terminal.
func (r *reader) publish() {
	service := r.shell("exec " + r.blocks[2])
	service.Env = append(service.Env, "PAGES_PORT=0")
	stdout, err := service.StdoutPipe()
	if err != nil {
		r.Fatal(err)
	}
	if err := service.Start(); err != nil {
		r.Fatal(err)
	}
	r.Cleanup(func() {
		_ = service.Process.Kill()
		_ = service.Wait()
	})
	lines, script := bufio.NewScanner(stdout), ""
	for range 3 {
		if !lines.Scan() || !strings.HasPrefix(lines.Text(), "export PAGES_") {
			r.Fatalf("%q prints %q, %v", r.blocks[2], lines.Text(), lines.Err())
		}
		script += lines.Text() + "\n"
	}
	script += r.blocks[3]
	at := startAtTerminal(r.T, r.shell(script))
	at.answer("Go ahead?", "y\n")
	code, shown := at.end()
	if code != 0 || strings.Contains(script, "…") {
		r.Fatalf("%s: exit code %d: %s", script, code, shown)
	}
	address := regexp.MustCompile(`http://([a-z0-9.-]+\.localhost)(:\d+)`).FindStringSubmatch(shown)
	if address == nil {
		r.Fatalf("no address is shown: %s", shown)
	}
	request, err := http.NewRequestWithContext(r.Context(), http.MethodGet, "http://127.0.0.1"+address[2]+"/", nil)
	if err != nil {
		r.Fatal(err)
	}
	request.Host = address[1] + address[2]
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		r.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK || !bytes.Contains(body, []byte("Riverside")) {
		r.Errorf("%s: %d %v %.300s", address[0], response.StatusCode, err, body)
	}
}
