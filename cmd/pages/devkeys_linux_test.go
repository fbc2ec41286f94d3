package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// openTerminal makes a pseudo-terminal: the side of the person, and that of the program.
func openTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Fatal(err)
	}
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Fatal(err)
	}
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

// Keys are pressed on a real terminal, one by one, and its settings are restored.
func TestDevKeys(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "public"), 0o700),
		os.WriteFile(filepath.Join(dir, "pages.deploy.json"), []byte(`{"assets": "public"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	path := program(t)
	person, program := openTerminal(t)
	before, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(path, "dev", dir, "--port", "0", "--color", "never")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	bin := t.TempDir() // no browser
	cmd.Env = append(os.Environ(), "PATH="+bin)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := make(chan string, 1000)
	go func() {
		defer close(lines)
		for scanner := bufio.NewScanner(person); scanner.Scan(); {
			lines <- scanner.Text()
		}
	}()
	wait(t, lines, "keys         ? lists them")
	for _, step := range []struct{ keys, says string }{
		{"z?", "  o  open the site in a browser"}, // other keys have no effect, and none is echoed
		{"l", "no leads yet"},
		{"d", "no debugger can attach: pages dev --inspect"},
		{"r", "rebuilt in"},
		{"p", `signed in as "member"`},
		{"ppp", "visitors are signed out"},
		{"b", "0 paired browsers forgotten"},
		{"o", "no browser could be opened"},
		{"c?", "\x1b[2J"},
	} {
		if _, err := person.WriteString(step.keys); err != nil {
			t.Fatal(err)
		}
		wait(t, lines, step.says)
	}
	put(t, filepath.Join(bin, "xdg-open"), "#!/bin/sh\nexit 3\n")           // no screen either
	if err := os.Chmod(filepath.Join(bin, "xdg-open"), 0o700); err != nil { //nolint:gosec // a program
		t.Fatal(err)
	}
	if _, err := person.WriteString("o"); err != nil {
		t.Fatal(err)
	}
	wait(t, lines, "no browser could be opened (xdg-open: exit status 3); the site is at http://")
	if _, err := person.WriteString("q"); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("q: %v", err)
	}
	after, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS)
	if err != nil || after.Lflag != before.Lflag {
		t.Errorf("the terminal is left with %x, was %x (%v)", after.Lflag, before.Lflag, err)
	}
}

// Keys work again after Ctrl-Z and fg, and after a time in the background, after which a shell sends no signal.
func TestDevKeysOfJob(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(filepath.Join(dir, "public"), 0o700),
		os.WriteFile(filepath.Join(dir, "pages.deploy.json"), []byte(`{"assets": "public"}`), 0o600)); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "--norc", "-i")
	cmd.Env = append(os.Environ(), "PS1=$ ", "HISTFILE=")
	shell := startAtTerminal(t, cmd)
	shell.answer("$ ", "'"+program(t)+"' dev '"+dir+"' --port 0 --color never\n")
	shell.answer("keys         ? lists them", "?")
	shell.answer("this list", "\x1a")
	shell.answer("Stopped", "fg\n")
	shell.answer(" dev ", "l")
	shell.answer("no leads yet", "\x1a")
	shell.answer("Stopped", "bg\n")
	shell.answer(" &", "fg\n")
	shell.answer(" dev ", "l")
	shell.answer("no leads yet", "q")
	shell.answer("$ ", "exit 3\n")
	if code, shown := shell.end(); code != 3 {
		t.Errorf("exit code %d: %s", code, shown)
	}
}
