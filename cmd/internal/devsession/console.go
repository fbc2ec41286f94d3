package devsession

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/mdp/qrterminal/v3"

	"github.com/pages-toolchain/pages/cmd/internal/devcommand"
	"github.com/pages-toolchain/pages/cmd/internal/nodebindings"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/otlp"
	"github.com/pages-toolchain/pages/devserver/pairing"
	"github.com/pages-toolchain/pages/devserver/site"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding/wire"
)

// console is the output of `pages dev`: the ready line and, with --json, every event on stdout, one JSON document a line;
// prose for people on stderr.
type console struct {
	term    *terminal.Terminal
	history *devserver.RequestLog // nil until the state is open
	// exporter is nil without --otlp.
	exporter *otlp.Exporter
	warned   string          // the last warnings; of the goroutine that builds
	mu       sync.Mutex      // lines come from many goroutines
	failed   map[string]bool // texts of failed requests that were printed since the last build; guarded by mu
	aside    func(format string, args ...any)
	after    time.Duration // how long a person waits before a message

	// development lists the packages whose development build the Worker has; nil after the hint was shown. Guarded by mu.
	development []string
	// faster is true while the hint about a faster engine is pending; guarded by mu.
	faster bool
}

// mostFailed bounds console.failed.
const mostFailed = 100

// silence is the longest time that an operation takes without a message.
const silence = 2 * time.Second

func newConsole(t *terminal.Terminal) *console {
	k := &console{term: t, after: silence}
	k.aside = k.line
	return k
}

// wait prints a notice if an operation takes longer than k.after.
func (k *console) wait(what string) (done func()) {
	timer := time.AfterFunc(k.after, func() { k.aside("%s", what) })
	return func() { timer.Stop() }
}

// NewLogger returns a logger that prints the notices of packages on stderr for a person, as a session does.
func NewLogger(t *terminal.Terminal) *slog.Logger { return newConsole(t).logger() }

func (k *console) logger() *slog.Logger {
	level := slog.LevelWarn
	if k.term.Verbose {
		level = slog.LevelDebug
	}
	return slog.New(notices{console: k, level: level})
}

// event prints one line of JSON.
func (k *console) event(v any) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.term.PrintJSONLine(v)
}

// line prints a line for people.
func (k *console) line(format string, args ...any) {
	if k.term.Quiet {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	fmt.Fprintf(k.term.Stderr, format+"\n", args...)
}

// ready prints the first line on stdout, on which scripts rely.
func (k *console) ready(r *session) {
	if k.term.JSON {
		k.event(ReadyEvent{"ready", r.sockets.URL, r.sockets.Beyond, r.options.Engine.Report(), r.inspection.report()})
		return
	}
	k.mu.Lock()
	fmt.Fprintf(k.term.Stdout, "ready %s\n", r.sockets.URL)
	k.mu.Unlock()
	for _, l := range devserver.Describe(r.manifest).Bindings {
		k.line("  %-12s %s", l.Name, l.Kind)
	}
	taken := ""
	if !r.options.StrictPort && r.options.Port != 0 && r.sockets.Port != r.options.Port {
		taken = fmt.Sprintf("  (port %d was taken)", r.options.Port)
	}
	if r.manifest.Entry != "" {
		k.line("  engine       %s", k.engine(r.options.Engine))
	}
	k.showInspector(r)
	k.line("  dashboard    %s/__pages/%s", r.sockets.URL, taken)
	if hosts := slices.Concat(r.sockets.Beyond, r.options.AllowHosts); len(hosts) > 0 {
		k.line(
			"  beyond       %s: the site alone; to sign in there, type a code that is shown here",
			wording.Printable(strings.Join(hosts, ", ")),
		)
	}
	if len(r.sockets.Beyond) > 0 {
		k.qrCode(r.sockets.Beyond[0])
	}
}

// qrCode prints a URL as a QR code for the camera of a phone, only on a terminal.
func (k *console) qrCode(url string) {
	if k.term.Quiet || !terminal.IsTerminal(k.term.Stderr) {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	const (
		margin  = 2             // modules; cameras need no more around it on a dark terminal
		inverse = "\x1b[97;40m" // white on black, whatever the terminal's own colours
	)
	code := qrterminal.Config{
		Level: qrterminal.L, Writer: k.term.Stderr, HalfBlocks: true, QuietZone: margin,
		BlackChar: " ", BlackWhiteChar: "▄", WhiteChar: "█", WhiteBlackChar: "▀",
	}
	if k.term.Colored(k.term.Stderr) {
		for _, char := range []*string{&code.BlackChar, &code.BlackWhiteChar, &code.WhiteChar, &code.WhiteBlackChar} {
			*char = inverse + *char + "\x1b[0m"
		}
	}
	qrterminal.GenerateWithConfig(url, code)
}

// engine returns the name of an engine and the path of its program.
func (k *console) engine(c siteworker.Choice) string {
	if c.Program == nil {
		return c.String()
	}
	return fmt.Sprintf("%s, %s (%s)", c, wording.Printable(k.term.Shown(c.Program.Path)), c.Program.Source)
}

// build prints one build.
func (k *console) build(b devserver.Build) {
	if k.term.JSON {
		k.event(BuildEvent{
			"build", b.Number, b.OK, float64(b.Took) / float64(time.Millisecond),
			append([]devserver.Problem{}, b.Problems...),
		})
		return
	}
	k.problems(b)
	switch {
	case b.Stale:
		k.line("the build failed; the last good build is still served")
	case !b.OK:
		k.line("nothing is served until the site builds; pages tries again when a file changes")
	case b.Number > 1:
		k.line("rebuilt in %s", b.Took.Round(time.Millisecond/10))
	}
}

// problems prints the errors of a build, and its warnings if they changed since the last one.
func (k *console) problems(b devserver.Build) {
	if !b.OK {
		k.line("%s %s", k.term.Paint("31;1", "error:"), k.text(b.Problems...))
		return
	}
	text := fmt.Sprint(b.Problems)
	if text == k.warned {
		return
	}
	k.warned = text
	for _, p := range b.Problems {
		k.line("%s %s: %s", k.term.Paint("33", "warning:"), p.Place(), p.Message)
	}
}

// text formats problems for the width of the terminal.
func (k *console) text(problems ...devserver.Problem) string {
	return strings.TrimSpace(devserver.ProblemsText(devserver.Within(terminal.Columns(k.term.Stderr), problems)))
}

// request prints and logs one request, except for those of the dashboard, which polls.
func (k *console) request(rec site.RequestRecord) {
	if k.history != nil && rec.Source != site.FromControl {
		k.history.Add(rec)
		k.exporter.Add(rec)
	}
	if k.term.JSON {
		k.event(RequestEvent{"request", rec})
		return
	}
	if rec.Source == site.FromControl && !k.term.Verbose {
		return
	}
	k.line("%s", devserver.FormatRequest(rec, k.term.Colored(k.term.Stderr)))
	k.adviseSlow(rec)
}

// slowCPU is the CPU time, in milliseconds, from which the console gives advice on a request.
const slowCPU = 100

// adviseSlow prints two hints at a slow request, each once: its Worker has the development build of a package, and another engine takes
// less time.
func (k *console) adviseSlow(rec site.RequestRecord) {
	if rec.Meter == nil || rec.Meter.CPUMs < slowCPU {
		return
	}
	k.mu.Lock()
	packages, faster := k.development, k.faster
	k.development, k.faster = nil, false
	k.mu.Unlock()
	if len(packages) == 0 && !faster {
		return
	}
	how := ""
	if faster {
		how = " in the built-in engine"
	}
	if len(packages) > 0 {
		how += ", with the development build of " + wording.Printable(strings.Join(packages, ", "))
	}
	k.line("%s that took %.0f ms of CPU time%s", k.term.Paint("2", "note:"), rec.Meter.CPUMs, how)
	if len(packages) > 0 {
		k.line("      pages dev --mode production    the build that a published page has")
	}
	if faster {
		k.line("      pages dev --engine workerd     V8, which runs heavy JavaScript in less CPU time")
	}
}

// setDevelopment sets the packages of which the Worker has the development build.
func (k *console) setDevelopment(packages []string) {
	k.mu.Lock()
	k.development = packages
	k.mu.Unlock()
}

// delivery prints one attempt to deliver an event to the webhook.
func (k *console) delivery(e site.Event) {
	d := e.Delivery
	if k.term.JSON {
		k.event(SiteEvent{"delivery", e})
		return
	}
	switch d.Status {
	case site.DeliveryDelivered:
		k.line("webhook %s %s delivered", e.Name, e.ID)
	case site.DeliveryPending:
		k.line("%s %s %s: %s; again in %s", k.term.Paint("33", "webhook"), e.Name, e.ID, wording.Printable(d.Error), d.Next.Sub(d.At.Time))
	case site.DeliveryDead:
		k.line("%s %s %s: %s; given up, see pages events replay", k.term.Paint("31", "webhook"), e.Name, e.ID, wording.Printable(d.Error))
	}
}

// called logs a call on a binding that a process of the framework made. There are thousands: only --verbose prints them.
func (k *console) called(c wire.Call) {
	if !nodebindings.IsBinding(c) {
		return
	}
	line := site.LogLine{Time: site.Stamp{Time: k.term.Now()}, Level: "debug", Text: nodebindings.Describe(c), Request: c.Request}
	lines := []site.LogLine{line}
	for _, warning := range c.Warnings {
		line.Level, line.Text = "warn", warning
		lines = append(lines, line)
	}
	for _, line := range lines {
		if k.history != nil {
			k.history.AddLine(line)
		}
		if k.term.Verbose || line.Level == "warn" {
			k.line("%s", devserver.FormatLine(line, k.term.Colored(k.term.Stderr)))
		}
	}
}

// log prints and logs a line of the Worker.
func (k *console) log(l pagesruntime.Line) {
	line := logLine(l)
	if printsError(l) {
		site.SetLogged(l.Request.Context(), line)
	}
	if k.history != nil {
		k.history.AddLine(line)
	}
	if k.term.JSON {
		k.event(LogEvent{"log", line})
		return
	}
	k.line("%s", devserver.FormatLine(line, k.term.Colored(k.term.Stderr)))
}

// errorPage answers for a Worker that failed, and prints why.
func (k *console) errorPage(w http.ResponseWriter, r *http.Request, err error) {
	p := problemOf(err)
	if p.Kind == downKind {
		w.Header().Set("Refresh", "1") // until the server answers
		devserver.WriteProblemPage(w, r, p)
		return
	}
	if k.term.JSON {
		k.event(ErrorEvent{"error", p})
	} else if text := k.text(p); k.isNew(text) {
		k.line("%s", k.term.Paint("31", text))
	}
	devserver.WriteProblemPage(w, r, p)
}

// forget makes failures print again. It is called after a build and before the site uses it: the first requests may fail before the build
// is printed.
func (k *console) forget() {
	k.mu.Lock()
	k.failed = nil
	k.mu.Unlock()
}

// isNew reports whether a failure was not printed since the last build. The line of each request has its short form.
func (k *console) isNew(text string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed[text] {
		return false
	}
	if k.failed == nil || len(k.failed) >= mostFailed {
		k.failed = map[string]bool{}
	}
	k.failed[text] = true
	return true
}

// output prints a line of the framework's dev server, under its name.
func (k *console) output(name string, l devcommand.Line) {
	if k.term.JSON {
		stream := "stdout"
		if l.IsError {
			stream = "stderr"
		}
		k.event(OutputEvent{"output", name, stream, l.Plain})
		return
	}
	text := wording.Printable(l.Plain)
	if k.term.Colored(k.term.Stderr) {
		text = devcommand.Coloured(l.Text)
	}
	k.line("%s %s", k.term.Paint("2", name+" |"), text)
}

// frontend prints the phase of the framework's dev server.
func (k *console) frontend(name string, s devcommand.State) {
	if k.term.JSON {
		k.event(FrontendEvent{"frontend", name, string(s.Phase), s.Host, s.Exit})
		return
	}
	switch s.Phase {
	case devcommand.Ready:
		k.line("%s listens at %s, behind this site", name, s.Host)
	case devcommand.Ended:
		k.logger().Error(name+" has ended: "+s.Exit, "fix", "press s to start it again")
	case devcommand.Starting:
	}
}

// OutputEvent is a line of the framework's dev server.
type OutputEvent struct {
	Type   string `json:"type"`
	Name   string `json:"name"`
	Stream string `json:"stream"` // stdout or stderr
	Text   string `json:"text"`   // without colours
}

// FrontendEvent is a new phase of the framework's dev server.
type FrontendEvent struct {
	Type  string `json:"type"`
	Name  string `json:"name"`
	State string `json:"state"` // starting, ready or ended
	Host  string `json:"host,omitempty"`
	Exit  string `json:"exit,omitempty"` // how it ended
}

// ReadyEvent is the first line of --json.
type ReadyEvent struct {
	Type string `json:"type"`
	URL  string `json:"url"`
	// Beyond holds the URLs for other machines, with --host.
	Beyond []string `json:"beyond,omitempty"`

	Engine siteworker.EngineReport `json:"engine"` // of the Worker
	// Inspector is the URL of the WebSocket for debuggers, with --inspect. The token in it lets a program of this machine run code.
	Inspector string `json:"inspector,omitempty"`
}

// BuildEvent is a build among the lines of --json.
type BuildEvent struct {
	Type     string              `json:"type"`
	Number   int64               `json:"number"`
	OK       bool                `json:"ok"`
	MS       float64             `json:"ms"`
	Problems []devserver.Problem `json:"problems"`
}

// ErrorEvent is a request that failed.
type ErrorEvent struct {
	Type    string            `json:"type"`
	Problem devserver.Problem `json:"problem"`
}

// LogEvent is a line of a Worker's console.
type LogEvent struct {
	Type string `json:"type"`
	site.LogLine
}

// RequestEvent is a request with its response.
type RequestEvent struct {
	Type string `json:"type"`
	site.RequestRecord
}

// SiteEvent is an event of a form, or its delivery.
type SiteEvent struct {
	Type string `json:"type"`
	site.Event
}

// logLine converts a line of a Worker for the log.
func logLine(l pagesruntime.Line) site.LogLine {
	line := site.LogLine{Time: site.Stamp{Time: l.Time}, Level: l.Level, Text: l.Text, Args: l.Args}
	if l.Request != nil {
		line.Request, line.Route = site.RequestOf(l.Request.Context())
	}
	if len(l.Frames) > 0 {
		at := l.Frames[0]
		line.At = fmt.Sprintf("%s:%d:%d", at.File, at.Line, at.Column)
	}
	if !l.Called {
		for _, f := range l.Frames {
			line.Stack = append(line.Stack, f.String())
		}
	}
	return line
}

// notices is a slog.Handler that prints the messages of packages for a person, with --quiet too: "warning: text (other attributes)" and,
// for an attribute "fix", a line with that. The attribute "error" is the reason.
type notices struct {
	console *console
	level   slog.Level
	with    []slog.Attr
}

// Enabled implements slog.Handler.
func (n notices) Enabled(_ context.Context, level slog.Level) bool { return level >= n.level }

// WithAttrs implements slog.Handler.
func (n notices) WithAttrs(attrs []slog.Attr) slog.Handler {
	n.with = append(slices.Clip(n.with), attrs...)
	return n
}

// WithGroup implements slog.Handler. No package names a group.
func (n notices) WithGroup(string) slog.Handler { return n }

// Handle implements slog.Handler.
func (n notices) Handle(_ context.Context, r slog.Record) error {
	text, fix, about := r.Message, "", []string(nil)
	take := func(a slog.Attr) bool {
		switch value := a.Value.Resolve().String(); a.Key {
		case "fix":
			fix = value
		case "error":
			text += ": " + value
		default:
			about = append(about, a.Key+" "+value)
		}
		return true
	}
	for _, a := range n.with {
		take(a)
	}
	r.Attrs(take)
	if about != nil {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	style, label := "33", "warning:"
	switch {
	case r.Level >= slog.LevelError:
		style, label = "31;1", "error:"
	case r.Level < slog.LevelWarn:
		style, label = "2", "note:"
	}
	k := n.console
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = wording.Printable(line)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	fmt.Fprintln(k.term.Stderr, k.term.Paint(style, label), strings.Join(lines, "\n  "))
	if fix != "" {
		fmt.Fprintln(k.term.Stderr, k.term.Paint("36", "fix:"), wording.Printable(fix))
	}
	return nil
}

// PairingEvent is a line of --json: the state of a browser beyond this machine.
type PairingEvent struct {
	Type    string        `json:"type"`
	State   pairing.State `json:"state"`
	Browser int           `json:"browser,omitempty"`
	Code    string        `json:"code,omitempty"`
	Expires *site.Stamp   `json:"expires,omitempty"`
	Host    string        `json:"host"`
	Client  string        `json:"client,omitempty"`
}

// printPairing prints the request of a browser beyond this machine to sign in, with --quiet too: the code is shown nowhere else.
func (k *console) printPairing(e pairing.Event) {
	client := ""
	if e.Client.IsValid() {
		client = e.Client.String()
	}
	if k.term.JSON {
		line := PairingEvent{Type: "pairing", State: e.State, Browser: e.Browser, Code: e.Code, Host: e.Host, Client: client}
		if e.State == pairing.Asked {
			line.Expires = &site.Stamp{Time: e.Expires}
		}
		k.event(line)
		return
	}
	who := fmt.Sprintf("browser %d at %s", e.Browser, wording.Printable(e.Host))
	if client != "" {
		who += " (" + client + ")"
	}
	text := ""
	switch e.State {
	case pairing.Asked:
		half := len(e.Code) / 2
		code := e.Code[:half] + " " + e.Code[half:]
		text = fmt.Sprintf("%s to sign in with: %s, for ten minutes; type it there, and keep it secret", who, k.term.Paint("1", code))
	case pairing.Paired:
		text = who + " is paired: it can sign in as anyone until pages dev ends"
	case pairing.Failed:
		text = who + " tried five wrong codes"
	case pairing.Busy:
		text = "too many browsers asked for a code: wait ten minutes, or press b"
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	fmt.Fprintln(k.term.Stderr, k.term.Paint("36", "pairing:"), text)
}
