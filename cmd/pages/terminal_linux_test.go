package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// ptyCommand is a program that runs at a terminal, and the person before it.
type ptyCommand struct {
	*testing.T

	cmd   *exec.Cmd
	keys  *os.File
	shown *testmachine.Buffer
	read  int // of shown
	done  chan struct{}
}

// atTerminal starts a command of a publisher at a terminal.
func (p *publisher) atTerminal(args ...string) *ptyCommand {
	p.Helper()
	cmd, _, _ := p.command(args...)
	return startAtTerminal(p.T, cmd)
}

// startAtTerminal starts a program at its own terminal.
func startAtTerminal(t *testing.T, cmd *exec.Cmd) *ptyCommand {
	t.Helper()
	master, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := unix.IoctlSetPointerInt(int(master.Fd()), unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	n, err := unix.IoctlGetInt(int(master.Fd()), unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	slave, err := os.OpenFile(fmt.Sprintf("/dev/pts/%d", n), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = slave, slave, slave
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := errors.Join(cmd.Start(), slave.Close()); err != nil {
		t.Fatal(err)
	}
	at := &ptyCommand{T: t, cmd: cmd, keys: master, shown: &testmachine.Buffer{}, done: make(chan struct{})}
	go func() {
		defer close(at.done)
		buf := make([]byte, 4096)
		for {
			n, err := master.Read(buf)
			_, _ = at.shown.Write(buf[:n]) // it never fails
			if err != nil {
				return // the program has ended
			}
		}
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = master.Close() }) // after a failure
	return at
}

// answer waits for the program's question, and types.
func (t *ptyCommand) answer(question, keys string) {
	t.Helper()
	for end := time.Now().Add(patience); ; <-time.After(5 * time.Millisecond) {
		text := t.shown.String()[t.read:]
		if i := strings.Index(text, question); i >= 0 {
			t.read += i + len(question)
			break
		}
		if time.Now().After(end) {
			t.Fatalf("%q was not asked: %s", question, text)
		}
	}
	if _, err := t.keys.WriteString(keys); err != nil {
		t.Fatal(err)
	}
}

// end waits for the program and returns its exit code and all of its output.
func (t *ptyCommand) end() (code int, shown string) {
	t.Helper()
	timer := time.AfterFunc(patience, func() { _ = t.cmd.Process.Kill() })
	defer timer.Stop()
	_ = t.cmd.Wait() // the exit code shows it
	<-t.done
	return t.cmd.ProcessState.ExitCode(), t.shown.String()
}

// TestDeployAtTerminal makes a person choose, agree, decline and leave.
func TestDeployAtTerminal(t *testing.T) {
	service := startPlatform(t, t.TempDir())
	p := &publisher{t, manyFiles(t, 3, 0), t.TempDir(), service.URL, service.Keys["both"]}
	first := p.atTerminal("deploy")
	first.answer("1-2: ", "neither\n")
	first.answer("1-2: ", "acme\n")
	first.answer("Which site?", "2\n")
	first.answer("Go ahead?", "y\n")
	if code, shown := first.end(); code != 0 || !strings.Contains(shown, "http://demo-new.localhost:") ||
		!strings.Contains(shown, "is live") {
		t.Fatalf("exit code %d: %s", code, shown)
	}
	for name, tt := range map[string]struct {
		key, keys, shown string
		code             int
	}{
		"declines":       {"member", "n\n", "not confirmed, and nothing has changed", failure.ExitPerson},
		"only presses":   {"member", "\n", "not confirmed, and nothing has changed", failure.ExitPerson},
		"ends the input": {"member", "\x04", "not confirmed, and nothing has changed", failure.ExitPerson},
		"presses Ctrl-C": {"member", "\x03", "nothing has changed; to confirm it until", failure.ExitInt},
		"is no member":   {"service", "y\n", "a service account can propose, but cannot confirm", failure.ExitPerson},
	} {
		t.Run(name, func(t *testing.T) {
			put(t, filepath.Join(p.dir, "public", "new.txt"), name)
			p.key = service.Keys[tt.key]
			at := p.atTerminal("deploy")
			at.answer("Go ahead?", tt.keys)
			if code, shown := at.end(); code != tt.code || !strings.Contains(shown, tt.shown) {
				t.Errorf("%s: exit code %d: %s", name, code, shown)
			}
		})
	}
	if v := service.request(t, "GET", demoNew, "/new.txt", ""); v.status != 404 {
		t.Errorf("published without approval: %d %s", v.status, v.body)
	}

	// The terminal does not echo a secret or a key.
	p.key = service.Keys["member"]
	secret := p.atTerminal("secrets", "set", "TOKEN")
	secret.answer("(not shown): ", canary+"\n")
	if code, shown := secret.end(); code != 0 || strings.Contains(shown, canary) {
		t.Errorf("exit code %d: %s", code, shown)
	}
	p.key = ""
	login := p.atTerminal("login", service.URL, "--store", "file")
	login.answer("(not shown): ", service.Keys["member"]+"\n")
	if code, shown := login.end(); code != 0 || strings.Contains(shown, service.Keys["member"]) ||
		!strings.Contains(shown, "logged in to") {
		t.Errorf("exit code %d: %s", code, shown)
	}
	if code, stdout, stderr := p.run("whoami"); code != 0 || !strings.Contains(stdout, "credentials.json") {
		t.Errorf("exit code %d: %s%s", code, stdout, stderr)
	}
}

// TestNobodyIsAsked: without a terminal for the question or the answer, the command does not ask, and names the flag to use.
func TestNobodyIsAsked(t *testing.T) {
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "said")
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"bindings": {"database": {}}}`)
	at := func(line, variable string) *ptyCommand {
		cmd := exec.Command("/bin/sh", "-c", "exec "+program(t)+" "+line)
		cmd.Dir, cmd.Env = dir, []string{"HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH"), variable}
		return startAtTerminal(t, cmd)
	}
	for _, line := range []string{"db exec 'CREATE TABLE t (a)'", "state save kept"} {
		if code, shown := at(line, "").end(); code != 0 {
			t.Fatalf("%s: exit %d: %s", line, code, shown)
		}
	}
	for line, fix := range map[string]string{
		"state reset":               "pass --yes",
		"state load kept":           "pass --yes",
		"migrate reset":             "pass --yes",
		"init":                      "pass --yes to adopt pages.deploy.json, or --template to start a new site",
		"login http://127.0.0.1:1/": "name a file that holds it with --api-key-file; - is stdin",
	} {
		t.Run(line, func(t *testing.T) {
			code, _ := at(line+" 2>"+file, "").end()
			text, err := os.ReadFile(file)
			if said := string(text); err != nil || code != failure.ExitPerson ||
				!strings.Contains(strings.ToLower(said), terminal.Unseen+"\n") || !strings.Contains(said, "fix: "+fix+"\n") {
				t.Errorf("%s 2>file: exit %d, %v: %s", line, code, err, said)
			}
			if line == "state load kept" {
				return // scripts load without a prompt
			}
			if code, shown := at(line, "CI=true").end(); code != failure.ExitPerson ||
				!strings.Contains(shown, "CI is set, so there are no questions") {
				t.Errorf("%s with CI: exit %d: %s", line, code, shown)
			}
		})
	}
	reset := at("state reset", "")
	reset.answer("Remove all local data in .pages/state? [y/N] ", "n\n")
	if code, shown := reset.end(); code != failure.ExitRefused {
		t.Errorf("exit %d: %s", code, shown)
	}
}
