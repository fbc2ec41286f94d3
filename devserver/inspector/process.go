package inspector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/runtime/workerd"
)

// process is the inspector of a process to which a front end is attached.
type process struct {
	*workerd.Inspected

	conn    *websocket.Conn
	scripts scripts
	done    chan struct{} // closed after the last message
	letGo   atomic.Bool   // by us

	mu      sync.Mutex
	last    int64              // id of a command
	pending map[int64]*pending // without a response
	names   map[string]string  // of scripts, by their numbers
	paused  bool
}

// pending is a command without a response.
type pending struct {
	front      int64 // its id for the front end
	breakpoint *breakpoint
	ours       chan message // gets the response; nil for a command of the front end
}

const (
	// dialTime bounds the connection to a process of this machine.
	dialTime = 10 * time.Second
	// mostEvent is the largest message of a process in bytes, such as the text of a script.
	mostEvent = 256 << 20
	// mostPending bounds the commands without a response.
	mostPending = 10_000
	// writeTime bounds the write of a message.
	writeTime = 30 * time.Second
	// goTime bounds the wait for a process to continue its code. A process in an endless loop does not answer at all.
	goTime = 2 * time.Second
)

// errGone means that a process has ended, or has closed its inspector.
var errGone = errors.New("the process has ended")

// errPending means that a process does not answer.
var errPending = &fault{codeServer, "The Worker has not responded to the commands before this one"}

// connect connects to the inspector of a process.
func connect(ctx context.Context, dir string, p *workerd.Inspected) (*process, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTime)
	defer cancel()
	conn, resp, err := websocket.Dial(ctx, p.URL, &websocket.DialOptions{CompressionMode: websocket.CompressionDisabled})
	if resp != nil && resp.Body != nil {
		_ = resp.Body.Close()
	}
	if err != nil {
		return nil, fmt.Errorf("connect to the inspector of workerd: %w", err)
	}
	conn.SetReadLimit(mostEvent)
	return &process{
		Inspected: p, conn: conn, scripts: newScripts(dir, p.Scripts), done: make(chan struct{}),
		pending: map[int64]*pending{}, names: map[string]string{},
	}, nil
}

// send sends a command.
func (p *process) send(ctx context.Context, of *pending, method string, params json.RawMessage) error {
	p.mu.Lock()
	if len(p.pending) >= mostPending {
		p.mu.Unlock()
		return errPending
	}
	p.last++
	id := p.last
	p.pending[id] = of
	p.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, writeTime)
	defer cancel()
	return p.conn.Write(ctx, websocket.MessageText, encode(message{ID: &id, Method: method, Params: params}))
}

// ask sends our own command and returns the response.
func (p *process) ask(ctx context.Context, method string, params json.RawMessage) (message, error) {
	of := &pending{ours: make(chan message, 1)}
	if err := p.send(ctx, of, method, params); err != nil {
		return message{}, err
	}
	select {
	case m := <-of.ours:
		return m, nil
	case <-p.done:
		return message{}, errGone
	case <-ctx.Done():
		return message{}, ctx.Err()
	}
}

// take returns the command of a response; nil for none.
func (p *process) take(id int64) *pending {
	p.mu.Lock()
	defer p.mu.Unlock()
	of := p.pending[id]
	delete(p.pending, id)
	return of
}

// takeAll returns all commands without a response.
func (p *process) takeAll() (all []*pending) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, of := range p.pending {
		all = append(all, of)
	}
	clear(p.pending)
	return all
}

// name returns the name of a script by its number; "" if unknown.
func (p *process) name(id string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.names[id]
}

// setPaused sets whether the code is paused, and returns whether it was.
func (p *process) setPaused(paused bool) (was bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	was, p.paused = p.paused, paused
	return was
}

// release makes the code continue and ends the connection.
func (p *process) release(ctx context.Context) {
	p.letGo.Store(true)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goTime)
	defer cancel()
	_, _ = p.ask(ctx, "Debugger.disable", nil) // an error means that the connection is over
	_ = p.conn.CloseNow()
	<-p.done
	p.Resumed()
}
