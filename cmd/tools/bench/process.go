package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/processgroup"
)

// process is a program that was started here, with all its children.
type process struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when the program has ended
	tail  *tail
}

// startProcess runs args in dir, in a new process group if the system has them.
func startProcess(args []string, dir string, environ []string) (*process, error) {
	p := &process{ended: make(chan struct{}), tail: &tail{}}
	p.cmd = exec.Command(args[0], args[1:]...) //nolint:noctx // stop ends it, with its children
	p.cmd.Dir, p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = dir, environ, p.tail, p.tail
	p.cmd.WaitDelay = time.Second // for children that keep the output open
	processgroup.Own(p.cmd)
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	go func() {
		_ = p.cmd.Wait() // the exit code does not matter
		close(p.ended)
	}()
	return p, nil
}

// stop interrupts the program, as Ctrl-C does, and kills the rest of it after ten seconds.
func (p *process) stop() {
	_ = processgroup.Interrupt(p.cmd) // it may have ended
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
		for line := range strings.Lines(p.tail.text()) {
			if strings.HasPrefix(line, prefix) && strings.HasSuffix(line, "\n") {
				found = line
				return nil
			}
		}
		return fmt.Errorf("there is no line with %s", prefix)
	})
	return found, err
}

// poll calls a function every millisecond until it succeeds, the program ends, or patience runs out.
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

// output is the end of the program's output.
func (p *process) output() string { return strings.TrimSpace(p.tail.text()) }

// timeCommand runs a program in a folder to its end, adds its time to a side's, so many times over, and returns its output.
func (b *bench) timeCommand(ctx context.Context, side string, m measure, times float64, dir string, args ...string) []byte {
	cmd := exec.CommandContext(ctx, args[0], args[1:]...)
	cmd.Dir = dir
	cmd.Env = append(slices.Clone(b.environ), quietTools...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	began := b.now()
	out, err := cmd.Output()
	b.results.add(side, m, times*milliseconds(b.now().Sub(began)))
	if err != nil {
		check(fmt.Errorf("%s: %w: %.500s%.500s", args[0], err, stderr.Bytes(), out))
	}
	return out
}

// quietTools keep programs from asking, and from the network.
var quietTools = []string{"CI=1", "NO_COLOR=1", "WRANGLER_SEND_METRICS=false", "CLOUDFLARE_CF_FETCH_ENABLED=false"}

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

// patience bounds every wait for a server.
const patience = time.Minute

// sampler watches the memory of a process and all its descendants.
type sampler struct {
	stop chan struct{}
	wg   sync.WaitGroup
	peak int64 // bytes; 0 when unknown on this system
}

// watchMemory samples every 50 ms until the sampler is asked for its peak.
func watchMemory(pid int) *sampler {
	s := &sampler{stop: make(chan struct{})}
	s.wg.Go(func() {
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			s.peak = max(s.peak, treeMemory(pid))
			select {
			case <-s.stop:
				return
			case <-tick.C:
			}
		}
	})
	return s
}

// end stops the sampling and returns the peak.
func (s *sampler) end() int64 {
	close(s.stop)
	s.wg.Wait()
	return s.peak
}

// The functions below ask the kernel through /proc. On systems without it every figure is 0, which means unknown.

// treeMemory is the memory of the process and its descendants, in bytes: the sum of their proportional set sizes, so that a
// page that several share counts once. A process that ends meanwhile counts nothing.
func treeMemory(pid int) (total int64) {
	for _, p := range descendants(pid) {
		total += kibibytes(procField(fmt.Sprintf("/proc/%d/smaps_rollup", p), "Pss", ""))
	}
	return total
}

// kibibytes reads "1234 kB" as bytes.
func kibibytes(text string) int64 {
	number, _, _ := strings.Cut(text, " ")
	n, _ := strconv.ParseInt(number, 10, 64) // 0 for none
	return n << 10
}

// descendants are pid and all below it.
func descendants(pid int) []int {
	all := []int{pid}
	for i := 0; i < len(all); i++ {
		for _, field := range taskFields(all[i], "children") {
			if child, err := strconv.Atoi(field); err == nil {
				all = append(all, child)
			}
		}
	}
	return all
}

// taskFields are the words of a file that the kernel keeps for each thread of a process.
func taskFields(pid int, name string) (fields []string) {
	files, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/%s", pid, name)) // the pattern is valid
	for _, file := range files {
		text, _ := os.ReadFile(file) // empty for a thread that has ended
		fields = append(fields, strings.Fields(string(text))...)
	}
	return fields
}

// processorTime is the processor time of a process's living threads, in milliseconds.
func processorTime(pid int) (total float64) {
	// The first of a thread's three fields is the time that it ran, in nanoseconds.
	for thread := range slices.Chunk(taskFields(pid, "schedstat"), 3) {
		ns, _ := strconv.ParseFloat(thread[0], 64)
		total += ns / 1e6
	}
	return total
}

// treeProcessorTime is the processor time of a process and all its descendants, in milliseconds.
func treeProcessorTime(pid int) (total float64) {
	for _, p := range descendants(pid) {
		total += processorTime(p)
	}
	return total
}

// busy is the load average of the last minute.
func busy() (load float64) {
	text, _ := os.ReadFile("/proc/loadavg")
	_, _ = fmt.Sscan(string(text), &load)
	return load
}

// procField is the value of the first "name: value" of a file.
func procField(file, name, otherwise string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return otherwise
	}
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return otherwise
}
