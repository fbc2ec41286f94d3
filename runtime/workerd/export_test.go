package workerd

import (
	"os"
	"path/filepath"
	"time"
)

// SetStall sets how long a process may neither answer nor use CPU time.
func (w *Worker) SetStall(d time.Duration) { w.stall = d }

// SetStrayTime sets the time of a judgement of code that runs without a request.
func (w *Worker) SetStrayTime(d time.Duration) {
	m := &w.awake().p.meter
	m.mu.Lock()
	defer m.mu.Unlock()
	w.strayTime = d
}

// Process returns the process that answers; 0 for none.
func (w *Worker) Process() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current == nil {
		return 0
	}
	return w.current.cmd.Process.Pid
}

// Unwatched returns the options of a pool that checks its processes only when Look is called.
func (o PoolOptions) Unwatched() PoolOptions {
	o.step = time.Hour
	return o
}

// SetWait sets how long a request may wait.
func (p *Pool) SetWait(d time.Duration) { p.o.Wait = d }

// Memory returns the bytes that the process of a Worker has to itself.
func (w *Worker) Memory() int64 { return w.awake().p.clock.memory() }

// Look makes a pool check its processes.
func (p *Pool) Look() { p.look() }

// Secrets returns the texts that only this Worker and its process may have: its tokens, and the addresses of its sockets, each with its own
// folder.
func (w *Worker) Secrets() (secrets []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return []string{w.token, w.front, w.current.front.address, w.wire.Address}
}

// Config returns the configuration with which the Worker starts.
func (w *Worker) Config(folder string) (string, error) {
	if _, err := w.writeConfig(folder); err != nil {
		return "", err
	}
	text, err := os.ReadFile(filepath.Join(folder, "config.capnp"))
	return string(text), err
}

// Users returns the number of requests that run or wait.
func (w *Worker) Users() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.users
}

// Idle reports whether no request and no waitUntil runs.
func (w *Worker) Idle() bool {
	w.mu.Lock()
	p, users := w.current, w.users
	w.mu.Unlock()
	return users == 0 && w.settled(p)
}
