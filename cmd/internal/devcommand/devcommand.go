// Package devcommand runs the dev server of a framework, as the author names it: a command with its arguments, in a process
// group of its own.
//
// In: the command, its folder and variables. Out: its lines, its state, and the address at which it listens. The address comes from its
// output, from the assigned port, or from the port that the author names. Only addresses of this machine count. [Command.Close] ends the
// command with its child processes. Package processgroup ends them when this process is killed.
//
// A Command that ended stays ended until [Command.Restart]. Errors are those of starting a program. The end of a command is not an error of
// this package: [State] has the reason. A Command is safe for concurrent use.
package devcommand

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/processgroup"
)

// Phase is the phase of a command's life.
type Phase string

// The phases.
const (
	Starting Phase = "starting"
	Ready    Phase = "ready"
	Ended    Phase = "ended"
)

// State describes a command at one moment.
type State struct {
	Phase   Phase
	Address string   // of this machine, once it is Ready: "127.0.0.1:5173"
	Host    string   // as the server names itself: "localhost:5173"
	TLS     bool     // it speaks https
	Exit    string   // how it ended: "exit status 1"
	Lines   []string // the last lines of its output, without colours
}

// Line is a line of a command's output.
type Line struct {
	Text    string // with its colours
	Plain   string
	IsError bool // from stderr
}

// Options configure a Command. Args must be set.
type Options struct {
	Args []string
	Dir  string
	// Env are the variables of the command. PORT and HOST are added to it.
	Env []string
	// Port is where the command listens; 0 to find it.
	Port int
	// Skip reports ports of this process: the command does not listen on them, even if it prints them.
	Skip    func(port int) bool
	OnLine  func(Line)
	OnState func(State)
}

const (
	keptLines = 30
	maxLine   = 8 << 10
	// endTime is the time that a command, and then its child processes, have to end after a request to do so.
	endTime = 3 * time.Second
	// lastLines is the longest wait for the last lines of a command that has ended.
	lastLines = 200 * time.Millisecond
	poll      = 25 * time.Millisecond
	// foreignWait is the wait before an address of another program is accepted. The command may name the address of an API, or start a
	// container that listens.
	foreignWait = 5 * time.Second
)

// Command is a command that runs, or ran.
type Command struct {
	options Options
	name    string

	restart sync.Mutex // held while a new process replaces the old one
	mu      sync.Mutex
	state   State
	changed chan struct{} // closed when the state changes
	closed  bool
	process *process
}

// process is one run.
type process struct {
	cmd     *exec.Cmd
	port    int // the assigned port
	release func()
	done    chan struct{}
}

// Start starts a command. It fails if the program cannot be started.
func Start(o Options) (*Command, error) {
	if len(o.Args) == 0 {
		return nil, errors.New("devcommand: no command")
	}
	c := &Command{options: o, name: Name(o.Args), changed: make(chan struct{}), state: State{Phase: Ended}}
	if err := c.run(); err != nil {
		return nil, err
	}
	return c, nil
}

// Name is the command in one or two words, for people: "vite", "npm run dev".
func (c *Command) Name() string { return c.name }

// Name is a command in one or two words, for people.
func Name(args []string) string {
	name := strings.TrimSuffix(filepath.Base(args[0]), ".cmd")
	name = strings.TrimSuffix(name, ".exe")
	const most = 3
	if slices.Contains([]string{"npm", "pnpm", "yarn", "bun", "npx", "bunx", "node", "deno"}, name) {
		rest := slices.DeleteFunc(slices.Clone(args[1:]), func(arg string) bool { return strings.HasPrefix(arg, "-") })
		if len(rest) > 0 && (name == "npx" || name == "bunx" || name == "node") {
			return filepath.Base(rest[0])
		}
		return strings.Join(append([]string{name}, rest[:min(len(rest), most-1)]...), " ")
	}
	return name
}

// State returns the state now.
func (c *Command) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.snapshot()
}

func (c *Command) snapshot() State {
	s := c.state
	s.Lines = slices.Clone(s.Lines)
	return s
}

// Wait returns the state once the command is ready or has ended, or when ctx ends.
func (c *Command) Wait(ctx context.Context) State {
	for {
		c.mu.Lock()
		s, changed := c.snapshot(), c.changed
		c.mu.Unlock()
		if s.Phase != Starting {
			return s
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return s
		}
	}
}

// set changes the state of a run, unless a later run has begun.
func (c *Command) set(p *process, change func(*State)) {
	c.mu.Lock()
	if c.process != p {
		c.mu.Unlock()
		return
	}
	change(&c.state)
	close(c.changed)
	c.changed = make(chan struct{})
	s := c.snapshot()
	c.mu.Unlock()
	if c.options.OnState != nil {
		c.options.OnState(s)
	}
}

// Restart ends the command, if it runs, and starts it again.
func (c *Command) Restart() error {
	c.restart.Lock()
	defer c.restart.Unlock()
	c.mu.Lock()
	p := c.process
	c.process, c.state = nil, State{Phase: Starting}
	c.mu.Unlock()
	p.end()
	err := c.run()
	if err != nil {
		c.mu.Lock()
		c.state = State{Phase: Ended, Exit: err.Error()}
		c.mu.Unlock()
	}
	return err
}

// Close ends the command.
func (c *Command) Close() {
	c.restart.Lock()
	defer c.restart.Unlock()
	c.mu.Lock()
	c.closed = true
	p := c.process
	c.mu.Unlock()
	p.end()
}

// end terminates a process and its group. After endTime it kills the rest.
func (p *process) end() {
	if p == nil {
		return
	}
	select {
	case <-p.done: // its group may belong to another process by now
		return
	default:
	}
	_ = processgroup.Terminate(p.cmd) // it may have ended
	deadline := time.NewTimer(endTime)
	defer deadline.Stop()
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for processgroup.Alive(p.cmd) {
		select {
		case <-deadline.C:
			processgroup.Kill(p.cmd)
			<-p.done
			return
		case <-tick.C:
		}
	}
	<-p.done
}

// run starts a process.
func (c *Command) run() error {
	port, err := freePort()
	if err != nil {
		return err
	}
	cmd := exec.Command(c.options.Args[0], c.options.Args[1:]...) //nolint:noctx,gosec // the author's; Close ends it
	p := &process{cmd: cmd, port: port, done: make(chan struct{})}
	p.cmd.Dir = c.options.Dir
	p.cmd.Env = append(slices.Clone(c.options.Env), "PORT="+strconv.Itoa(port), "HOST=127.0.0.1")
	processgroup.Own(p.cmd)
	stdout, err := p.cmd.StdoutPipe()
	if err != nil {
		return err
	}
	stderr, err := p.cmd.StderrPipe()
	if err != nil {
		return err
	}
	c.mu.Lock()
	if c.closed {
		c.mu.Unlock()
		return nil
	}
	c.mu.Unlock()
	if err := p.cmd.Start(); err != nil {
		return err
	}
	if p.release, err = processgroup.Tie(p.cmd); err != nil {
		processgroup.Kill(p.cmd)
		_ = p.cmd.Wait()
		return err
	}
	c.mu.Lock()
	c.process = p
	c.mu.Unlock()
	c.set(p, func(s *State) { *s = State{Phase: Starting} })
	ctx, ended := context.WithCancel(context.Background()) //nolint:forbidigo // it ends with the process
	found := make(chan candidate, 64)
	var readers sync.WaitGroup
	readers.Go(func() { c.read(p, stdout, false, found) })
	readers.Go(func() { c.read(p, stderr, true, found) })
	go c.find(ctx, p, found)
	go func() {
		// Wait for the end of the program, not of its streams: a child process may hold them open for longer.
		status, err := p.cmd.Process.Wait()
		ended()
		read := make(chan struct{})
		go func() {
			readers.Wait()
			close(read)
		}()
		within(lastLines, read)
		how := "exit status 0"
		if err != nil {
			how = err.Error()
		} else if status != nil {
			how = status.String()
		}
		c.set(p, func(s *State) { s.Phase, s.Exit, s.Address = Ended, how, "" })
		within(endTime, read) // child processes may end by themselves
		processgroup.Kill(p.cmd)
		<-read
		_ = p.cmd.Wait() // closes the pipes
		p.release()
		close(p.done)
	}()
	return nil
}

// within waits until a channel closes, at most for limit.
func within(limit time.Duration, done <-chan struct{}) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-done:
	case <-timer.C:
	}
}

// read passes on the lines of a stream.
func (c *Command) read(p *process, from io.Reader, isError bool, found chan<- candidate) {
	in := bufio.NewReaderSize(from, maxLine)
	for {
		text, err := in.ReadSlice('\n')
		if line := strings.TrimRight(string(text), "\r\n"); line != "" || err == nil {
			if at := strings.LastIndexByte(line, '\r'); at >= 0 { // an overwritten line of progress
				line = line[at+1:]
			}
			c.line(p, Line{Text: line, Plain: plain(line), IsError: isError}, found)
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return
		}
	}
}

func (c *Command) line(p *process, l Line, found chan<- candidate) {
	c.mu.Lock()
	if c.process == p && strings.TrimSpace(l.Plain) != "" {
		c.state.Lines = append(c.state.Lines, l.Plain)
		if len(c.state.Lines) > keptLines {
			c.state.Lines = c.state.Lines[1:]
		}
	}
	starting := c.state.Phase == Starting
	c.mu.Unlock()
	if c.options.OnLine != nil {
		c.options.OnLine(l)
	}
	if !starting || c.options.Port != 0 {
		return
	}
	for _, each := range candidatesIn(l.Plain) {
		if c.options.Skip != nil && c.options.Skip(each.port) {
			continue
		}
		select {
		case found <- each:
		default: // if a program prints hundreds, the first ones count
		}
	}
}

// find waits until one of the printed addresses answers, or the assigned port.
func (c *Command) find(ctx context.Context, p *process, found <-chan candidate) {
	given := []candidate{{host: "localhost", port: p.port}}
	if c.options.Port != 0 {
		given = []candidate{{host: "localhost", port: c.options.Port}}
	}
	var printed []candidate
	foreign := time.NewTimer(foreignWait)
	defer foreign.Stop()
	ownOnly := c.options.Port == 0
	tick := time.NewTicker(poll)
	defer tick.Stop()
	for {
		for _, each := range slices.Concat(printed, given) {
			at, ok := each.dial(ctx)
			if ok && ownOnly {
				owns, known := ownsPort(p.cmd.Process.Pid, each.port)
				ok = owns || !known
			}
			if ok {
				c.set(p, func(s *State) { s.Phase, s.Address, s.Host, s.TLS = Ready, at, each.name(), each.tls })
				return
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-foreign.C:
			ownOnly = false
		case each := <-found:
			printed = append(printed, each)
		case <-tick.C:
		}
	}
}

// freePort returns a port that is free on both loopback addresses.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it returns at once
	if err != nil {
		return 0, fmt.Errorf("find a free port: %w", err)
	}
	defer l.Close()
	at, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		return 0, errors.New("find a free port: the listener has none")
	}
	return at.Port, nil
}

// ParseURL parses the address of a running dev server: its scheme, host and port. The host must be this machine.
func ParseURL(text string) (State, error) {
	u, err := url.Parse(text)
	switch {
	case err != nil:
		return State{}, errors.New("it is not a URL")
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return State{}, errors.New("it is a URL such as http://localhost:5173")
	case u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.Trim(u.Path, "/") != "":
		return State{}, errors.New("it must have scheme, host and port only, such as http://localhost:5173")
	}
	c := candidate{host: loopbackHost(strings.ToLower(u.Hostname())), tls: u.Scheme == "https", port: 80}
	if c.host == "" {
		return State{}, errors.New("--upstream takes a server on this machine only: localhost, 127.0.0.1 or [::1]")
	}
	if c.tls {
		c.port = 443
	}
	if u.Port() != "" {
		if c.port, err = strconv.Atoi(u.Port()); err != nil || c.port < 1 || c.port > 65535 {
			return State{}, errors.New("its port must be from 1 to 65535")
		}
	}
	return State{Phase: Ready, Host: c.name(), TLS: c.tls}, nil
}

// Answer finds the current address of the server of a [ParseURL] state.
func (s State) Answer(ctx context.Context) (State, bool) {
	host, port, err := net.SplitHostPort(s.Host)
	if err != nil {
		return s, false
	}
	number, _ := strconv.Atoi(port)
	at, ok := candidate{host: host, port: number}.dial(ctx)
	s.Address = at
	return s, ok
}
