package inspector

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file remembers the state that a front end has set, and repeats it in the next process: the enabled domains, the settings and the
// breakpoints. A front end uses the name that the first process gave to a breakpoint; later processes use other names.

// settings are the methods whose effect lasts while their domain is enabled.
var settings = []string{
	"Debugger.setAsyncCallStackDepth", "Debugger.setBlackboxPatterns", "Debugger.setBreakpointsActive", "Debugger.setPauseOnExceptions",
	"Debugger.setSkipAllPauses", "Profiler.setSamplingInterval", "Runtime.addBinding",
	"Runtime.setAsyncCallStackDepth", "Runtime.setCustomObjectFormatterEnabled", "Runtime.setMaxCallStackSizeToCapture",
}

const (
	setBreakpoint       = "Debugger.setBreakpoint"
	setBreakpointByURL  = "Debugger.setBreakpointByUrl"
	setInstrumentation  = "Debugger.setInstrumentationBreakpoint"
	setBlackboxPatterns = "Debugger.setBlackboxPatterns"
	removeBreakpoint    = "Debugger.removeBreakpoint"
	enabled             = ".enable"
	disabled            = ".disable"
	mostRemembered      = 10_000 // breakpoints, and settings
	longestPattern      = 10_000 // bytes
)

// setting is a command that each process gets.
type setting struct {
	method string
	key    string // of two with the same method and key, the later one counts
	params json.RawMessage
}

// breakpoint is one that the front end has set.
type breakpoint struct {
	id      string // for the front end
	current string // for the process; "" if it has none
	method  string
	params  object // as the front end sent them
	at      place  // in the author's file; no file if unknown
	script  string // the name of the script whose number the front end sent
}

// memory remembers the state of one front end.
type memory struct {
	mu          sync.Mutex
	settings    []setting
	breakpoints []*breakpoint
}

// command remembers a command that is sent to a process with these scripts, and returns the params for it. If the breakpoint is not nil,
// add it after the process has set it. names has the scripts by their numbers.
func (m *memory) command(method string, params json.RawMessage, in scripts, names func(id string) string) (json.RawMessage, *breakpoint) {
	m.mu.Lock()
	defer m.mu.Unlock()
	of := domain(method)
	switch {
	case method == of+disabled:
		m.settings = slices.DeleteFunc(m.settings, func(s setting) bool { return domain(s.method) == of })
		if of == "Debugger" {
			m.breakpoints = nil
		}
	case method == of+enabled || slices.Contains(settings, method):
		m.set(method, params)
	case method == setBreakpoint, method == setBreakpointByURL, method == setInstrumentation:
		fields, err := readObject(params)
		if err != nil || len(m.breakpoints) >= mostRemembered {
			return params, nil
		}
		b := &breakpoint{method: method, params: fields}
		b.locate(in, names)
		return b.first(in), b
	case method == removeBreakpoint:
		return m.remove(params), nil
	}
	return params, nil
}

// set remembers a setting. The caller holds m.mu.
func (m *memory) set(method string, params json.RawMessage) {
	s := setting{method: method, params: params}
	if method == "Runtime.addBinding" {
		fields, _ := readObject(params)
		s.key = fields.text("name")
	}
	m.settings = slices.DeleteFunc(m.settings, func(o setting) bool { return o.method == s.method && o.key == s.key })
	if len(m.settings) < mostRemembered {
		m.settings = append(m.settings, s)
	}
}

// remove removes a breakpoint, and returns the params for the process. The caller holds m.mu.
func (m *memory) remove(params json.RawMessage) json.RawMessage {
	fields, err := readObject(params)
	if err != nil {
		return params
	}
	id := fields.text("breakpointId")
	for i, b := range m.breakpoints {
		if b.id == id {
			m.breakpoints = slices.Delete(m.breakpoints, i, i+1)
			if b.current != "" {
				id = b.current
			}
			break
		}
	}
	fields["breakpointId"] = encode(id)
	return encode(fields)
}

// add adds a breakpoint that the process has set, with its result.
func (m *memory) add(b *breakpoint, result json.RawMessage) {
	fields, err := readObject(result)
	if err != nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	b.id = fields.text("breakpointId")
	b.current = b.id
	m.breakpoints = append(m.breakpoints, b)
}

// list returns all commands for a new process.
func (m *memory) list() ([]setting, []*breakpoint) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.settings), slices.Clone(m.breakpoints)
}

// isEnabled reports whether the front end has enabled a domain.
func (m *memory) isEnabled(domain string) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.settings, func(s setting) bool { return s.method == domain+enabled })
}

// blackboxed reports whether the front end has set patterns of scripts to step over.
func (m *memory) blackboxed() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.ContainsFunc(m.settings, func(s setting) bool { return s.method == setBlackboxPatterns })
}

// setCurrent sets the name of a breakpoint in the process; "" for none.
func (m *memory) setCurrent(b *breakpoint, id string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	b.current = id
}

// front returns the front end's name of a breakpoint.
func (m *memory) front(current string) string {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, b := range m.breakpoints {
		if b.current == current {
			return b.id
		}
	}
	return current
}

// locate finds the place of the breakpoint in the author's file.
func (b *breakpoint) locate(in scripts, names func(id string) string) {
	line, column := b.params.number("lineNumber"), b.params.number("columnNumber")
	of := b.params.text("url")
	if b.method == setBreakpoint {
		location, err := readObject(b.params["location"])
		if err != nil {
			return
		}
		b.script = names(location.text("scriptId"))
		of, line, column = b.script, location.number("lineNumber"), location.number("columnNumber")
	}
	if s := in[of]; s != nil {
		b.at, _, _ = s.source(line, column)
		return
	}
	b.find(in)
}

// find returns the author's file that the front end has named.
func (b *breakpoint) find(in scripts) {
	if is := b.named(); is != nil {
		if _, file := in.find(is); file != "" {
			b.at = place{file, b.params.number("lineNumber"), b.params.number("columnNumber")}
		}
	}
}

// named returns a function that reports whether a file is the one that the front end has named; nil if it has named none.
func (b *breakpoint) named() func(file string) bool {
	if of := b.params.text("url"); of != "" {
		return func(file string) bool { return sameURL(file, of) }
	}
	pattern := b.params.text("urlRegex")
	if pattern == "" || len(pattern) > longestPattern {
		return nil
	}
	match, err := regexp.Compile(pattern)
	if err != nil { // not every JavaScript pattern is a Go pattern
		return nil
	}
	return match.MatchString
}

// first returns the params for the process to which the front end sends the breakpoint. If it names a script, V8 finds it without help.
func (b *breakpoint) first(in scripts) json.RawMessage {
	is := b.named()
	if is == nil || b.at.file == "" {
		return encode(b.params)
	}
	for name := range in {
		if is(name) {
			return encode(b.params)
		}
	}
	of, line, column := b.code(in)
	return b.byURL(of, line, column)
}

// again returns the command that sets the breakpoint in another process with these scripts.
func (b *breakpoint) again(in scripts) (method string, params json.RawMessage) {
	if b.at.file == "" {
		b.find(in) // the file may be new
	}
	if of, line, column := b.code(in); of != "" {
		return setBreakpointByURL, b.byURL(of, line, column)
	}
	if b.method != setBreakpoint {
		return b.method, encode(b.params)
	}
	location, _ := readObject(b.params["location"])
	return setBreakpointByURL, b.byURL(b.script, location.number("lineNumber"), location.number("columnNumber"))
}

// code returns the script and the position of the breakpoint; no name if no script has it.
func (b *breakpoint) code(in scripts) (of string, line, column int) {
	if b.at.file == "" {
		return "", 0, 0
	}
	s, _ := in.find(func(file string) bool { return sameURL(file, b.at.file) })
	if s == nil {
		return "", 0, 0
	}
	line, column, ok := s.code(b.at)
	if !ok {
		return "", 0, 0
	}
	return s.name, line, column
}

// byURL returns the params of the breakpoint at a position of a script; without a script they are unchanged.
func (b *breakpoint) byURL(of string, line, column int) json.RawMessage {
	if of == "" {
		return encode(b.params)
	}
	fields := maps.Clone(b.params)
	for _, name := range []string{"location", "urlRegex", "scriptHash"} {
		delete(fields, name)
	}
	fields["url"], fields["lineNumber"], fields["columnNumber"] = encode(of), encode(line), encode(column)
	return encode(fields)
}

// withOwn adds our scripts to those that the debugger steps over.
func withOwn(params json.RawMessage, own string) json.RawMessage {
	fields, err := readObject(params)
	if err != nil {
		return params
	}
	var patterns []string
	if json.Unmarshal(fields["patterns"], &patterns) != nil && fields["patterns"] != nil {
		return params
	}
	fields["patterns"] = encode(append(patterns, "^"+regexp.QuoteMeta(strings.TrimSuffix(own, "/"))+"[/:]"))
	return encode(fields)
}
