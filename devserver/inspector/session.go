package inspector

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coder/websocket"
)

// session is one front end, with its current process.
type session struct {
	server *Server
	front  *websocket.Conn
	ctx    context.Context //nolint:containedctx // ends with the front end
	cancel context.CancelFunc
	ended  chan struct{}
	memory memory

	turn    sync.Mutex // held while a command is sent, and while a new process replaces the old one
	process *process   // nil for none; guarded by turn
	changed chan struct{}
	over    bool
}

func newSession(s *Server, front *websocket.Conn) *session {
	mine := &session{server: s, front: front, ended: make(chan struct{}), changed: make(chan struct{})}
	mine.ctx, mine.cancel = context.WithCancel(s.ctx)
	return mine
}

// processTime is how long a command waits for the start of a process.
const processTime = 10 * time.Second

// run serves the front end until it leaves. The Worker continues then.
func (s *session) run() {
	defer close(s.ended)
	defer s.cancel()
	s.replace(s.ctx)
	for {
		kind, text, err := s.front.Read(s.ctx)
		if err != nil {
			s.server.o.Logger.Debug("a front end of the debugger left", "error", err)
			break
		}
		if kind != websocket.MessageText {
			s.end(websocket.StatusUnsupportedData, "the messages are texts")
			break
		}
		s.command(text)
	}
	s.turn.Lock()
	defer s.turn.Unlock()
	s.over = true
	s.letGo()
}

// end closes the connection of the front end.
func (s *session) end(code websocket.StatusCode, why string) {
	go func() { // this waits for the front end
		_ = s.front.Close(code, why)
		s.cancel()
	}()
}

// tell sends a message to the front end.
func (s *session) tell(m message) { s.write(encode(m)) }

func (s *session) write(text []byte) {
	ctx, cancel := context.WithTimeout(s.ctx, writeTime)
	defer cancel()
	if err := s.front.Write(ctx, websocket.MessageText, text); err != nil {
		s.cancel()
	}
}

func (s *session) event(method string) { s.tell(message{Method: method, Params: encode(object{})}) }

func (s *session) refuse(id *int64, err error) {
	f, ok := errors.AsType[*fault](err)
	if !ok {
		f = &fault{codeServer, err.Error()}
	}
	if id == nil { // in V8's words
		s.write(encode(struct {
			Error *fault `json:"error"`
		}{f}))
		return
	}
	s.tell(message{ID: id, Error: encode(f)})
}

// command sends a command of the front end to the process.
func (s *session) command(text []byte) {
	m, wrong := readCommand(text)
	if wrong != nil {
		s.refuse(m.ID, wrong)
		return
	}
	p := s.lockProcess()
	defer s.turn.Unlock()
	if p == nil {
		s.refuse(m.ID, errGone)
		return
	}
	params, b := s.memory.command(m.Method, m.Params, p.scripts, p.name)
	if m.Method == setBlackboxPatterns {
		params = withOwn(params, p.Own)
	}
	if err := p.send(s.ctx, &pending{front: *m.ID, breakpoint: b}, m.Method, params); err != nil {
		s.refuse(m.ID, err)
		return
	}
	if m.Method == "Debugger.enable" && !s.memory.blackboxed() {
		_ = p.send(s.ctx, &pending{ours: make(chan message, 1)}, setBlackboxPatterns, withOwn(nil, p.Own))
	}
}

// lockProcess locks s.turn and returns the process, after a bounded wait; nil for none.
func (s *session) lockProcess() *process {
	timer := time.NewTimer(processTime)
	defer timer.Stop()
	for {
		s.turn.Lock()
		if s.process != nil || s.over {
			return s.process
		}
		changed := s.changed
		s.turn.Unlock()
		select {
		case <-changed:
		case <-s.ctx.Done():
			s.turn.Lock()
			return nil
		case <-timer.C:
			s.turn.Lock()
			return s.process
		}
	}
}

// replace moves the front end from its process to the newest one.
func (s *session) replace(ctx context.Context) {
	s.turn.Lock()
	defer s.turn.Unlock()
	next := s.server.newest()
	if s.over || s.process != nil && s.process.Inspected == next {
		return
	}
	s.letGo()
	if next == nil {
		return
	}
	p, err := connect(ctx, s.server.o.Dir, next)
	if err != nil {
		select {
		case <-next.Done: // the next process follows
		default:
			s.server.o.Logger.Warn("the debugger cannot be attached to the Worker", "error", err)
			s.end(websocket.StatusInternalError, "the inspector of workerd does not answer")
		}
		return
	}
	s.process = p
	close(s.changed)
	s.changed = make(chan struct{})
	go s.read(p)
	s.repeat(ctx, p)
}

// letGo makes the process continue and detaches from it. The caller holds s.turn.
func (s *session) letGo() {
	p := s.process
	if p == nil {
		return
	}
	s.process = nil
	p.release(s.ctx)
	s.left(p)
}

// left informs the front end of the end of a process.
func (s *session) left(p *process) {
	for _, of := range p.takeAll() {
		if of.ours == nil {
			s.refuse(&of.front, errGone)
		}
	}
	if p.setPaused(false) {
		s.event("Debugger.resumed")
	}
	if s.memory.isEnabled("Runtime") {
		s.event("Runtime.executionContextsCleared")
	}
}

// repeat sends the state that the front end has set to a new process.
func (s *session) repeat(ctx context.Context, p *process) {
	settings, breakpoints := s.memory.list()
	for _, each := range settings {
		params := each.params
		if each.method == setBlackboxPatterns {
			params = withOwn(params, p.Own)
		}
		if _, err := p.ask(ctx, each.method, params); err != nil {
			return
		}
		if each.method == "Debugger.enable" && !s.memory.blackboxed() {
			_, _ = p.ask(ctx, setBlackboxPatterns, withOwn(nil, p.Own)) // the next command gets the same error
		}
	}
	for _, b := range breakpoints {
		s.memory.setCurrent(b, "")
		method, params := b.again(p.scripts)
		m, err := p.ask(ctx, method, params)
		if err != nil {
			return
		}
		s.repeated(b, m.Result)
	}
}

// repeated informs the front end of the present position of a breakpoint.
func (s *session) repeated(b *breakpoint, result json.RawMessage) {
	var set struct {
		ID        string            `json:"breakpointId"`
		Locations []json.RawMessage `json:"locations"`
	}
	if len(result) == 0 || json.Unmarshal(result, &set) != nil {
		return
	}
	s.memory.setCurrent(b, set.ID)
	for _, location := range set.Locations {
		s.tell(message{Method: "Debugger.breakpointResolved", Params: encode(object{"breakpointId": encode(b.id), "location": location})})
	}
}

// read passes the messages of a process on to the front end until it ends.
func (s *session) read(p *process) {
	for {
		_, text, err := p.conn.Read(context.WithoutCancel(s.ctx))
		if err != nil {
			break
		}
		var m message
		if err := json.Unmarshal(text, &m); err != nil {
			s.server.o.Logger.Debug("a message of the inspector that cannot be read", "error", err)
			continue
		}
		if m.ID != nil {
			s.response(p, m)
			continue
		}
		if out := s.passOn(p, m, text); out != nil {
			s.write(out)
		}
	}
	close(p.done)
	if p.letGo.Load() {
		return
	}
	p.Resumed()
	s.turn.Lock()
	if s.process == p {
		s.process = nil
		s.left(p)
	}
	s.turn.Unlock()
	select {
	case <-p.Done:
	case <-s.ended:
	case <-time.After(goTime):
		s.end(websocket.StatusInternalError, "workerd has closed its inspector")
	}
}

// response passes a response on to the sender of the command.
func (s *session) response(p *process, m message) {
	of := p.take(*m.ID)
	if of == nil {
		return
	}
	if of.ours != nil {
		of.ours <- m
		return
	}
	if of.breakpoint != nil && m.Error == nil {
		s.memory.add(of.breakpoint, m.Result)
	}
	answer := message{ID: &of.front, Result: m.Result, Error: m.Error}
	if answer.Result == nil && answer.Error == nil { // workerd repeats a command of the profiler, and node inspect reads the result
		answer.Result = encode(object{})
	}
	s.tell(answer)
}

// passOn returns an event in the form for the front end, nil to drop it; text is the event of the process.
func (s *session) passOn(p *process, m message, text []byte) []byte {
	fields, err := readObject(m.Params)
	if err != nil {
		return text
	}
	switch m.Method {
	case "Debugger.scriptParsed":
		name := fields.text("url")
		p.mu.Lock()
		p.names[fields.text("scriptId")] = name
		p.mu.Unlock()
		of := p.scripts[name]
		if of == nil {
			return text
		}
		fields["sourceMapURL"] = encode(of.address())
	case "Runtime.consoleAPICalled":
		changed, ours := p.console(fields)
		switch {
		case !ours:
			return text
		case changed == nil:
			return nil
		}
		fields = changed
	case "Debugger.breakpointResolved":
		fields["breakpointId"] = encode(s.memory.front(fields.text("breakpointId")))
	case "Debugger.paused":
		p.setPaused(true)
		p.Paused(p.where(fields["callFrames"]))
		var hit []string
		if json.Unmarshal(fields["hitBreakpoints"], &hit) != nil {
			return text
		}
		for i, id := range hit {
			hit[i] = s.memory.front(id)
		}
		fields["hitBreakpoints"] = encode(hit)
	case "Debugger.resumed":
		p.setPaused(false)
		p.Resumed()
		return text
	default:
		return text
	}
	m.Params = encode(fields)
	return encode(m)
}

// console returns the author's form of a console line, nil for a report of our own. ours is false for a line that stays unchanged.
func (p *process) console(fields object) (line object, ours bool) {
	var args []struct {
		Value string `json:"value"`
	}
	if json.Unmarshal(fields["args"], &args) != nil || len(args) != 1 {
		return nil, false
	}
	level, text, ours := p.Report(args[0].Value)
	if level == "" {
		return nil, ours
	}
	if level == "warn" {
		level = "warning" // as V8 names it
	}
	fields["type"] = encode(level)
	fields["args"] = encode([]any{map[string]string{"type": "string", "value": text}})
	trace, err := readObject(fields["stackTrace"])
	var frames []json.RawMessage
	if err != nil || json.Unmarshal(trace["callFrames"], &frames) != nil {
		return fields, true
	}
	author := slices.IndexFunc(frames, func(frame json.RawMessage) bool {
		of, err := readObject(frame)
		return err == nil && !strings.HasPrefix(of.text("url"), p.Own)
	})
	if author > 0 {
		trace["callFrames"] = encode(frames[author:])
		fields["stackTrace"] = encode(trace)
	}
	return fields, true
}

// where returns the position in the author's file at which the code is paused.
func (p *process) where(frames json.RawMessage) string {
	var all []struct {
		URL      string `json:"url"`
		Location struct {
			Script string `json:"scriptId"`
			Line   int    `json:"lineNumber"`
			Column int    `json:"columnNumber"`
		} `json:"location"`
	}
	if json.Unmarshal(frames, &all) != nil || len(all) == 0 {
		return "an unknown position"
	}
	for _, f := range all {
		if of := p.scripts[p.name(f.Location.Script)]; of != nil {
			if at, name, ok := of.source(f.Location.Line, f.Location.Column); ok {
				return fmt.Sprintf("%s:%d", name, at.line+1)
			}
		}
	}
	return fmt.Sprintf("%s:%d", p.name(all[0].Location.Script), all[0].Location.Line+1)
}
