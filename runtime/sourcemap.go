package runtime

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf16"

	"github.com/go-sourcemap/sourcemap"
)

// Frame is one line of a stack trace. Line and Column count from 1. File is the author's file, relative to the site's folder,
// or the name of the evaluated code if the source map has no position.
type Frame struct {
	Func   string
	File   string
	Line   int
	Column int
}

// String returns the frame as V8 writes one.
func (f Frame) String() string {
	at := f.File
	if f.Line > 0 {
		at = fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)
	}
	if f.Func == "" {
		return "at " + at
	}
	return "at " + f.Func + " (" + at + ")"
}

// SnippetLine is one line of source text around a fault.
type SnippetLine struct {
	Number int
	Text   string
	Hit    bool
}

// snippetReach is the number of lines shown before and after a fault.
const snippetReach = 3

// sources maps positions of the evaluated code to the author's files. Safe for
// concurrent use; a nil one maps nothing.
type sources struct {
	mapped map[string]*mappedCode // by the name of the evaluated code
	own    map[string]ownFile     // modules that are the author's files, by name
	texts  map[string]string      // their texts, by file
}

// mappedCode is code that another program made from the author's files.
type mappedCode struct {
	// consumer parses the map on first use: most Workers neither fail nor log between two saves. It is nil for an invalid map, which
	// maps nothing.
	consumer func() *sourcemap.Consumer
	wide     sync.Map // the lines of each source read so far; none where every character is one UTF-16 unit
}

// ownFile is a file whose text is evaluated unchanged.
type ownFile struct{ file, text string }

// newMappedCode returns code with its source map, of version 3.
func newMappedCode(text []byte) *mappedCode {
	return &mappedCode{consumer: sync.OnceValue(func() *sourcemap.Consumer {
		consumer, err := sourcemap.Parse("", text)
		if err != nil {
			return nil
		}
		return consumer
	})}
}

// newSources takes the source maps of a Worker's code; an empty one is allowed.
func newSources(o WorkerOptions) *sources {
	s := &sources{mapped: map[string]*mappedCode{}, own: map[string]ownFile{}, texts: map[string]string{}}
	maps, texts := map[string][]byte{o.Name: o.Map}, map[string]string{o.Name: string(o.Code)}
	for name, script := range o.Scripts {
		maps[name], texts[name] = script.Map, script.Text
	}
	for name, text := range maps {
		if len(text) > 0 {
			s.mapped[name] = newMappedCode(text)
			continue
		}
		if o.Folder != "" {
			own := ownFile{path.Join(o.Folder, strings.TrimPrefix(name, mappedScheme)), texts[name]}
			s.own[name], s.texts[own.file] = own, own.text
		}
	}
	return s
}

// traceLine is a line of QuickJS's trace: "    at name (file:line:column)" or,
// at the top level of a module, "    at file:line:column".
var traceLine = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*at (?:(.*) \()?([^()]+?)(?::(\d+))?(?::(\d+))?\)?$`)
})

// notTheAuthors are the file names in a trace for code that is not the author's, and for a function that was stopped before
// it had a position: the line of its caller is more useful.
var notTheAuthors = []string{preludeName, "native", "<evalScript>", "<input>", "missing"}

// besideBundle matches the specifier of a WebAssembly module, which has a hash. The trace of one that cannot be compiled is in
// it.
var besideBundle = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^\./[0-9a-f]{16}-(.+\.wasm)$`) })

// frames reads the engine's trace, without code that is not the author's.
func (s *sources) frames(stack string) []Frame {
	var frames []Frame
	for line := range strings.Lines(stack) {
		m := traceLine().FindStringSubmatch(strings.TrimRight(line, "\r\n"))
		if m == nil || slices.Contains(notTheAuthors, m[2]) {
			continue
		}
		f := Frame{Func: m[1], File: m[2]}
		f.Line, _ = strconv.Atoi(m[3])   // "" is 0: unknown
		f.Column, _ = strconv.Atoi(m[4]) // likewise
		if f.Func == "<anonymous>" {
			f.Func = ""
		}
		if m := besideBundle().FindStringSubmatch(f.File); m != nil {
			f = Frame{File: m[1]}
		}
		frames = append(frames, s.original(f))
	}
	return frames
}

// trace reads a trace from the author's innermost line on, without modules of Node.js and code of the bundler that threw.
func (s *sources) trace(stack string) []Frame {
	frames := s.frames(stack)
	return frames[max(slices.IndexFunc(frames, isAuthored), 0):]
}

// isAuthored reports whether a frame is in one of the author's files, and not in a module of the runtime, or in code without a position in
// the map.
func isAuthored(f Frame) bool {
	scheme, _, named := strings.Cut(f.File, ":")
	return !named || scheme != "node" && scheme != "cloudflare" && scheme != "pages" && scheme+":" != mappedScheme
}

// printedTrace matches a line of a trace in a printed text, and the text after it: the comma after a property, a brace before
// the properties of the Error, a further argument.
var printedTrace = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\s+)(at (?:.*? \((?:native|[^()]+:\d+:\d+)\)|native|[^()\s]+:\d+:\d+))(.*)$`)
})

// text replaces positions in a text with lines of traces by the author's, and drops the lines of the prelude's own frames.
func (s *sources) text(text string) string {
	if !strings.Contains(text, "\n") || !strings.Contains(text, " at ") {
		return text
	}
	var kept []string
	for line := range strings.SplitSeq(text, "\n") {
		m := printedTrace().FindStringSubmatch(line)
		if m == nil {
			kept = append(kept, line)
			continue
		}
		frames := s.frames(m[2])
		switch {
		case len(frames) > 0:
			kept = append(kept, m[1]+frames[0].String()+m[3])
		case len(kept) > 0:
			kept[len(kept)-1] += m[3]
		}
	}
	return strings.Join(kept, "\n")
}

// original returns the frame in the author's file.
func (s *sources) original(f Frame) Frame {
	if s == nil || f.Line == 0 {
		return f
	}
	if own, ok := s.own[f.File]; ok {
		f.File = own.file
		return f
	}
	code := s.mapped[f.File]
	if code == nil {
		return f
	}
	consumer := code.consumer()
	if consumer == nil {
		return f
	}
	file, _, line, column, ok := consumer.Source(f.Line, max(f.Column-1, 0))
	if !ok || file == "" {
		return f
	}
	f.File, f.Line, f.Column = fileOf(file), line, code.characters(consumer, file, line, column)+1
	return f
}

// characters returns the number of characters in a line before so many units of UTF-16, which source maps count.
func (c *mappedCode) characters(consumer *sourcemap.Consumer, source string, line, units int) int {
	found, known := c.wide.Load(source)
	if !known {
		var lines []string
		if content := consumer.SourceContent(source); strings.ContainsFunc(content, beyondOneUnit) {
			lines = strings.Split(content, "\n")
		}
		found, _ = c.wide.LoadOrStore(source, lines)
	}
	lines, _ := found.([]string)
	if line > len(lines) {
		return units
	}
	count := units
	for _, r := range lines[line-1] {
		if units <= 0 {
			break
		}
		units--
		if beyondOneUnit(r) {
			units--
			count--
		}
	}
	return count
}

// beyondOneUnit reports whether a character needs two units in UTF-16.
func beyondOneUnit(r rune) bool { return utf16.RuneLen(r) == 2 }

// fileOf returns the file name of a source, which esbuild writes as a relative URL.
func fileOf(source string) string {
	if strings.Contains(source, "://") {
		return source
	}
	if name, err := url.PathUnescape(source); err == nil {
		return name
	}
	return source
}

// snippet returns the lines around a frame, as far as the map holds them.
func (s *sources) snippet(f Frame) []SnippetLine {
	if s == nil || f.Line == 0 {
		return nil
	}
	content := s.texts[f.File]
	spelled := strings.ReplaceAll((&url.URL{Path: f.File}).String(), "%20", " ") // as esbuild does
	for _, code := range s.mapped {
		if consumer := code.consumer(); content == "" && consumer != nil {
			content = cmp.Or(consumer.SourceContent(f.File), consumer.SourceContent(spelled))
		}
	}
	if content == "" {
		return nil
	}
	var lines []SnippetLine
	number := 0
	for text := range strings.Lines(content) {
		if number++; number > f.Line+snippetReach {
			break
		}
		if number >= f.Line-snippetReach {
			lines = append(lines, SnippetLine{Number: number, Text: strings.TrimRight(text, "\r\n"), Hit: number == f.Line})
		}
	}
	return lines
}
