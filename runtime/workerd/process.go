package workerd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// process is one process of workerd with the Worker in it.
type process struct {
	w       *Worker
	number  int // from 1
	started time.Time
	cmd     *exec.Cmd
	guard   io.Closer // keeps it alive on systems that tie it to this process with a pipe; nil elsewhere
	front   front
	clock   clock
	output  output
	meter   meter
	pause   pause
	// inspector is V8's; unused without a debugger.
	inspector inspector
	leave     func()        // frees its place
	done      chan struct{} // closed when it has ended and all its output is read
	// answered is true after its first response.
	answered atomic.Bool

	mu    sync.Mutex
	why   *ending
	idle  []*conn
	pongs map[string]func() // each called once
	pings int
}

// cause is the cause of the end of a process.
type cause int

const (
	byItself   cause = iota
	byClose          // the Worker was closed
	byCPU            // a request exceeded its CPU time
	byMemory         // the heap was full, or the process too large
	byStall          // it neither responded nor used CPU time
	byLoad           // it did not finish loading
	bySleep          // it was idle
	byShortage       // all processes together had too much memory, and this one was the largest
	byStray          // its code continued without a request
)

// ending is the reason why a process ended.
type ending struct {
	cause  cause
	blamed *exchange // the request at fault; nil if unknown
	among  int       // the number of requests, one of which is at fault
	state  string    // the exit state, if the process ended by itself
}

func (e *ending) String() string {
	switch e.cause {
	case byClose:
		return "the Worker was closed"
	case byCPU:
		return "a request was over limits.cpuMs"
	case byMemory:
		return "out of memory"
	case byStall:
		return "it stopped responding"
	case byLoad:
		return "it did not finish loading"
	case bySleep:
		return "it was idle"
	case byShortage:
		return "all processes of workerd together used too much memory"
	case byStray:
		return "code ran on for no request"
	default:
		return e.state
	}
}

const (
	// exitWait bounds the reading of output after the end of the process: a child process may keep it open.
	exitWait = 2 * time.Second
	// maxIdle is the limit of idle connections.
	maxIdle = 64
)

// start starts a process and returns when its Worker responds. The error is a *pagesruntime.Error if the module is at fault.
func (w *Worker) start(ctx context.Context) (*process, error) {
	if w.pool == nil {
		return w.startProcess(ctx, func() {})
	}
	if err := w.pool.enter(ctx); err != nil {
		return nil, err
	}
	leave := sync.OnceFunc(w.pool.leave)
	p, err := w.startProcess(ctx, leave)
	if err != nil {
		leave()
	}
	return p, err
}

// startProcess is start within the bounds of the pool; leave is called when the process has ended. After an error no process is left.
func (w *Worker) startProcess(ctx context.Context, leave func()) (*process, error) {
	w.mu.Lock()
	w.numbers++
	p := &process{w: w, number: w.numbers, leave: leave, done: make(chan struct{}), pongs: map[string]func(){}}
	w.mu.Unlock()
	p.output.p = p
	p.meter.init(p)
	p.pause.meter = &p.meter
	folder, err := os.MkdirTemp("", "pages-workerd-") // of mode 0700
	if err != nil {
		return nil, fmt.Errorf("start workerd: %w", err)
	}
	err = p.run(folder)
	if err == nil {
		err = p.load(ctx)
	}
	// The secrets of the site are in there. The socket stays, under its name of its own.
	started := err == nil
	if err = errors.Join(err, p.front.keep(folder, started)); err == nil {
		err = p.attach(ctx)
	}
	if started && err != nil {
		p.end(&ending{cause: byClose})
		<-p.done
	}
	return p, err
}

// run starts the program.
func (p *process) run(folder string) error {
	config, err := p.w.writeConfig(folder)
	if err != nil {
		return fmt.Errorf("write the configuration of workerd: %w", err)
	}
	args, files, err := p.front.listen(folder)
	if err != nil {
		return fmt.Errorf("open a socket for workerd: %w", err)
	}
	if p.w.inspection != nil {
		further, control, err := p.inspector.listen(len(files))
		if err != nil {
			for _, f := range files {
				_ = f.Close()
			}
			return err
		}
		args, files = append(args, further...), append(files, control...)
	}
	p.cmd = exec.Command(p.w.program.Path, append(append([]string{"serve"}, args...), config)...) //nolint:gosec,noctx // it is ours to end
	p.cmd.Dir, p.cmd.ExtraFiles, p.cmd.Env = folder, files, environment()
	p.cmd.Stdout, p.cmd.Stderr = &lines{line: p.output.stdout}, &lines{line: p.output.stderr}
	p.cmd.WaitDelay = exitWait
	tie(p.cmd)
	begun := make(chan error)
	go p.watch(begun)
	err = <-begun
	for _, f := range files {
		_ = f.Close()
	}
	if err != nil {
		return fmt.Errorf("start workerd: %w", err)
	}
	return nil
}

// environment is the environment of workerd. It has no variables of this process, since a Worker must not see them.
func environment() []string {
	env := []string{"TZ=UTC"}
	for _, name := range []string{"SystemRoot", "TEMP", "LD_LIBRARY_PATH"} {
		if value := os.Getenv(name); value != "" { //nolint:forbidigo // the system's own, which a program needs to start
			env = append(env, name+"="+value)
		}
	}
	return env
}

// watch starts the program and waits for its end, on one thread: when that thread ends, the system ends the program.
func (p *process) watch(begun chan<- error) {
	runtime.LockOSThread() // and the thread ends with the goroutine
	p.started = time.Now() //nolint:forbidigo // a duration is made of it
	err := p.cmd.Start()
	if err == nil {
		err = p.follow()
	}
	if err != nil {
		p.leave()
		begun <- err
		close(p.done)
		return
	}
	begun <- nil
	err = p.cmd.Wait()
	if p.guard != nil {
		_ = p.guard.Close()
	}
	itself := p.endedItself(err)
	p.mu.Lock()
	if p.why == nil {
		p.why = itself
	}
	for _, c := range p.idle {
		_ = c.Close()
	}
	p.idle = nil
	p.mu.Unlock()
	p.clock.close()
	p.front.close()
	p.leave() // before a new process for the Worker would wait for the place
	close(p.done)
}

// endedItself returns the reason of an end that pages did not cause; err is the error of Wait.
func (p *process) endedItself(err error) *ending {
	among := p.meter.stop()
	why := &ending{cause: byItself, blamed: only(among), among: len(among), state: "workerd ended by itself"}
	if err != nil {
		why.state += ": " + err.Error()
	}
	if p.output.heapFull() {
		why.cause = byMemory
	}
	return why
}

// follow opens the clock of the started program.
func (p *process) follow() error {
	err := p.clock.open(p.cmd.Process)
	if err == nil {
		p.guard, err = guard(p.cmd.Process)
	}
	if err != nil {
		_ = p.cmd.Process.Kill()
		_ = p.cmd.Wait()
		return err
	}
	return nil
}

// end ends the process. The reason of the first call counts.
func (p *process) end(why *ending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.why != nil {
		return
	}
	p.why = why
	_ = p.cmd.Process.Kill()
}

// ended is the reason why the process ended or is about to; nil while it runs.
func (p *process) ended() *ending {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.why
}

const (
	// loadTick is the interval at which the CPU time of a loading process is read.
	loadTick = 20 * time.Millisecond
	// listenTick is the interval of connection attempts if workerd opens its socket itself.
	listenTick = 5 * time.Millisecond
)

// load waits until the Worker responds.
func (p *process) load(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	answered := make(chan error, 1)
	go func() { answered <- p.firstPing(ctx) }()
	tick := time.NewTicker(loadTick)
	defer tick.Stop()
	for {
		select {
		case err := <-answered:
			if err == nil {
				p.meter.start()
				return nil
			}
			// If the process ends, its end gives the reason.
			select {
			case <-p.done:
			case <-time.After(exitWait):
				p.end(&ending{cause: byLoad})
			case <-ctx.Done():
			}
		case <-p.done:
			return p.loadError()
		case <-tick.C:
			if used, err := p.clock.read(); err == nil && used > p.w.o.LoadCPU {
				p.end(&ending{cause: byLoad})
			}
			continue
		case <-ctx.Done():
		}
		if err := ctx.Err(); err != nil {
			p.end(&ending{cause: byClose})
			<-p.done
			return fmt.Errorf("start workerd: %w", err)
		}
	}
}

// firstPing is the ping of a process that may not listen yet.
func (p *process) firstPing(ctx context.Context) error {
	for {
		err := p.ping(ctx)
		dialled, ok := errors.AsType[*net.OpError](err)
		if !ok || dialled.Op != "dial" {
			return err
		}
		select {
		case <-time.After(listenTick):
		case <-p.done:
			return err
		case <-ctx.Done():
			return err
		}
	}
}

// loadError is the reason why the process ended before the Worker's first response.
func (p *process) loadError() error {
	s := p.w.sources
	switch why := p.ended(); why.cause {
	case byMemory:
		return s.Loading(s.Thrown(pagesruntime.KindLoad, engine.OutOfMemory()))
	case byLoad:
		return s.Loading(&pagesruntime.Error{Kind: pagesruntime.KindCPU})
	default:
		if thrown := p.output.loadFailure(); thrown != nil {
			return s.Loading(s.Thrown(pagesruntime.KindLoad, thrown))
		}
		return fmt.Errorf("start workerd (%s): %s%s", p.w.program.Path, why, p.output.tail())
	}
}

// ping returns nil when the Worker's isolate has answered a request of this package: the isolate then runs no turn, and its earlier output
// has been read.
func (p *process) ping(ctx context.Context) error {
	return p.observePing(ctx, pingObserver{sent: func(bool) {}, turn: func() {}})
}

// pingObserver has a function for each step of a ping.
type pingObserver struct {
	sent func(dialled bool) // the request is written, on a new connection or not
	turn func()             // the isolate runs the ping's turn; the response may arrive after other turns
}

// observePing is ping with an observer.
func (p *process) observePing(ctx context.Context, o pingObserver) error {
	p.mu.Lock()
	p.pings++
	id := fmt.Sprintf("%s-p%d", p.w.front, p.pings)
	pong := make(chan struct{})
	p.pongs[id] = func() { o.turn(); close(pong) }
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.pongs, id)
	}()
	c, err := p.conn(ctx)
	if err != nil {
		return err
	}
	whole := false
	defer func() { c.release(whole) }()
	stop := context.AfterFunc(ctx, func() { _ = c.Close() })
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://ping.invalid/", nil)
	if err != nil {
		return err
	}
	if err := c.writeHead(r, "http://ping.invalid/", id, "{}", 0); err != nil {
		return err
	}
	o.sent(c.idle.IsZero())
	resp, err := c.readHead(r)
	if err != nil {
		return err
	}
	_ = resp.Body.Close()
	whole = stop() && !resp.Close
	if resp.StatusCode != http.StatusNoContent {
		return fmt.Errorf("workerd answered %s", resp.Status)
	}
	select {
	case <-pong:
		return nil
	case <-p.done:
	case <-ctx.Done():
	}
	return net.ErrClosed
}
