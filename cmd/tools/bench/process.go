package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/processgroup"
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
	processgroup.Own(p.cmd)
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
	_ = processgroup.Interrupt(p.cmd) // it may be gone
	select {
	case <-p.ended:
	case <-time.After(10 * time.Second):
	}
	processgroup.Kill(p.cmd) // its children may have been left
	<-p.ended
}

// line waits for a line that begins with a prefix among the first that the program writes.
func (p *process) line(ctx context.Context, prefix string) (found string, err error) {
	err = p.poll(ctx, func(context.Context) error {
		for line := range strings.Lines(p.said.text()) {
			if strings.HasPrefix(line, prefix) && strings.HasSuffix(line, "\n") {
				found = line
				return nil
			}
		}
		return fmt.Errorf("there is no line with %s", prefix)
	})
	return found, err
}

// poll tries something every millisecond until it goes well, the program ends, or patience does.
func (p *process) poll(ctx context.Context, try func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w; the program said:\n%s", err, p.output())
		case <-p.ended:
			return fmt.Errorf("it ended by itself; it said:\n%s", p.output())
		case <-tick.C:
		}
	}
}

// output is the end of what the program wrote.
func (p *process) output() string { return strings.TrimSpace(p.said.text()) }

// timed runs a program in a folder to its end, adds its time to a side's, so many times over, and returns what it
// printed.
func (b *bench) timed(ctx context.Context, side string, m measure, times float64, dir string, args ...string) ([]byte, error) {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(b.environ), quietTools...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := b.now()
	out, err := cmd.Output()
	b.results.add(side, m, times*milliseconds(b.now().Sub(began)))
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %.500s%.500s", args[0], err, stderr.Bytes(), out)
	}
	return out, nil
}

// quietTools keep programs from asking, and from the network.
var quietTools = []string{"CI=1", "NO_COLOR=1", "WRANGLER_SEND_METRICS=false", "CLOUDFLARE_CF_FETCH_ENABLED=false"}

func milliseconds(d time.Duration) float64 { return d.Seconds() * 1000 }

// find returns the path of a peer's program, "" when there is none: its rows say so then.
func (b *bench) find(peer, given, name string) string {
	path, err := exec.LookPath(orElse(given, name))
	if err != nil {
		b.missing(peer, "there is no %s: give --%s", name, name)
	}
	return path
}

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

func (t *tail) text() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.buf.String()
}

// patience is how long a server may take for anything.
const patience = time.Minute
