package main

import (
	"bytes"
	"os/exec"
	"strings"
	"sync"
	"time"
)

// process is a program that was started here, with all it starts itself.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the program is gone
	said  *tail
}

// startProcess runs args in dir, in a process group of its own where there are
// such.
func startProcess(args []string, dir string, environ []string) (*process, error) {
	p := &process{ended: make(chan struct{}), said: &tail{}}
	p.cmd = exec.Command(args[0], args[1:]...) //nolint:noctx // stop ends it, with its children
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, environ, p.said, p.said
	p.cmd.WaitDelay = time.Second // for children that keep the output open
	group(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // how it ended is of no interest
		close(p.ended)
	}()
	return p, nil
}

// stop interrupts the program, as Ctrl-C does, and kills what is left of it
// after ten seconds.
func (p *process) stop() {
	_ = interrupt(p.cmd.Process) // it may be gone
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
	}
	killGroup(p.cmd.Process) // its children may have been left
	<-p.ended
}

// output is the end of what the program wrote.
func (p *process) output() string { return p.said.String() }

// tail keeps the last bytes written to it. It is safe for concurrent use.
type tail struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

const tailBytes = 4 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.buf.Write(b)
	if over := t.buf.Len() - tailBytes; over > 0 {
		t.buf.Next(over)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(t.buf.String())
}
