// Package inspector lets front ends of V8's debugger attach to the Worker of a site: Chrome's DevTools, VS Code, JetBrains, node inspect.
//
// In: the inspectors of the processes in which the Worker runs, one after the other ([Server.Attach]), and listeners of loopback. Out:
// /json/version and /json/list as in V8, and one WebSocket, whose path is a token. A front end stays attached when a new process replaces
// the old one: it gets the events of a new page, and the inspector repeats its settings and its breakpoints, at the lines of the author's
// files. The source maps that it gets have the real paths of these files, in which it may set breakpoints, too.
//
// One front end is attached at a time; a new one replaces it. The inspector refuses requests of other machines, for other hosts and of web
// pages. workerd can only open its own inspector on a loopback socket without a token: see runtime/workerd. A *[Server] is safe for
// concurrent use.
//
// The package runs no code, starts no process, and does not depend on sites or bundles.
package inspector

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/devserver/loopback"
	"github.com/pages-toolchain/pages/runtime/workerd"
)

// Options configure a Server.
type Options struct {
	Title     string         // of the Worker, for lists
	Dir       string         // absolute path of the site's folder
	Listeners []net.Listener // of loopback, on one port
	Address   string         // of the first, "127.0.0.1:9229"
	Logger    *slog.Logger   // default: none
	// OnFrontEnd is called when a front end attaches or detaches. Default: no call.
	OnFrontEnd func(attached bool)
}

// Server is the inspector of a site's Worker. Close it.
type Server struct {
	o     Options
	token string
	http  *http.Server
	serve sync.WaitGroup

	ctx    context.Context //nolint:containedctx // ends the sessions
	cancel context.CancelFunc

	mu       sync.Mutex
	process  *workerd.Inspected // the newest process; nil for none
	attached *session           // nil for none
	sessions sync.WaitGroup
	closed   bool
}

// headTime bounds the head of a request.
const headTime = 10 * time.Second

// Start serves on the listeners until Close.
func Start(o Options) *Server {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.OnFrontEnd == nil {
		o.OnFrontEnd = func(bool) {}
	}
	s := &Server{o: o, token: rand.Text()}
	s.ctx, s.cancel = context.WithCancel(context.Background()) //nolint:forbidigo // Close ends it
	s.http = &http.Server{Handler: s, ReadHeaderTimeout: headTime, ErrorLog: slog.NewLogLogger(o.Logger.Handler(), slog.LevelDebug)}
	for _, l := range o.Listeners {
		s.serve.Go(func() {
			if err := s.http.Serve(l); !errors.Is(err, http.ErrServerClosed) {
				o.Logger.Warn("the inspector does not listen any more", "error", err)
			}
		})
	}
	return s
}

// WebSocket returns the URL of the WebSocket of front ends, which has the token.
func (s *Server) WebSocket() string { return s.webSocket(s.o.Address) }

func (s *Server) webSocket(host string) string { return "ws://" + host + "/" + s.token }

// DevTools returns the address of Chrome's DevTools for the Worker.
func (s *Server) DevTools() string { return s.devTools(s.o.Address) }

func (s *Server) devTools(host string) string {
	return "devtools://devtools/bundled/js_app.html?experiments=true&v8only=true&ws=" + host + "/" + s.token
}

// Attach implements workerd.Debugger: the process replaces the one before, and a front end moves to it.
func (s *Server) Attach(ctx context.Context, p *workerd.Inspected) {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return
	}
	s.process = p
	attached := s.attached
	s.mu.Unlock()
	if attached != nil {
		attached.replace(ctx)
	}
}

// Close lets the Worker run, ends the sessions and closes the listeners. Later calls do nothing.
func (s *Server) Close() error {
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.cancel()
	s.sessions.Wait()
	err := s.http.Close()
	s.serve.Wait()
	return err
}

// ServeHTTP implements http.Handler.
func (s *Server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if loopback.Classify(r) != nil || !isFrontEnd(r.Header.Values("Origin")) {
		http.Error(w, "this inspector serves debuggers of this machine alone", http.StatusForbidden)
		return
	}
	token := subtle.ConstantTimeCompare([]byte(r.URL.Path), []byte("/"+s.token)) == 1
	switch {
	case r.Method != http.MethodGet:
		w.Header().Set("Allow", http.MethodGet)
		http.Error(w, "this inspector serves GET", http.StatusMethodNotAllowed)
	case token && r.Header.Get("Upgrade") == "":
		http.Error(w, "this is the address of a WebSocket", http.StatusUpgradeRequired)
	case token:
		s.accept(w, r)
	case r.URL.Path == "/json/version":
		writeJSON(w, version{Browser: "workerd", Protocol: "1.3"})
	case r.URL.Path == "/json" || r.URL.Path == "/json/" || r.URL.Path == "/json/list":
		writeJSON(w, s.list(r.Host))
	default:
		http.Error(w, "the addresses here are /json/version and /json/list, and the WebSocket that the list names", http.StatusNotFound)
	}
}

// frontEnds are the URL schemes of front ends. Those of the web are not among them.
var frontEnds = []string{"devtools", "chrome-devtools", "vscode-file"}

// isFrontEnd reports whether a request with these origins may come from a front end. Programs send no origin.
func isFrontEnd(origins []string) bool {
	return !slices.ContainsFunc(origins, func(origin string) bool {
		u, err := url.Parse(origin)
		return err != nil || !slices.Contains(frontEnds, u.Scheme)
	})
}

type version struct {
	Browser  string `json:"Browser"`
	Protocol string `json:"Protocol-Version"`
}

// entry is an element of the list, in the form of Node.js.
type entry struct {
	Description          string `json:"description"`
	DevtoolsFrontendURL  string `json:"devtoolsFrontendUrl"`
	ID                   string `json:"id"`
	Title                string `json:"title"`
	Type                 string `json:"type"`
	URL                  string `json:"url"`
	WebSocketDebuggerURL string `json:"webSocketDebuggerUrl"`
}

// list returns the Worker for a client that has connected to a host, with its port.
func (s *Server) list(host string) []entry {
	if _, port, err := net.SplitHostPort(host); err != nil || port == "" { // some name only a host
		host = s.o.Address
	}
	return []entry{{
		Description: "Worker of pages", DevtoolsFrontendURL: s.devTools(host), ID: s.token, Title: s.o.Title, Type: "node",
		URL: fileURL(s.o.Dir, "."), WebSocketDebuggerURL: s.webSocket(host),
	}}
}

func writeJSON(w http.ResponseWriter, v any) {
	text, err := json.MarshalIndent(v, "", "  ")
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=UTF-8")
	w.Header().Set("Cache-Control", "no-cache")
	_, _ = w.Write(append(text, '\n'))
}

// mostCommand is the largest message of a front end in bytes. workerd closes the connection at a longer one.
const mostCommand = 1 << 20

// accept attaches a front end and serves it until it leaves.
func (s *Server) accept(w http.ResponseWriter, r *http.Request) {
	conn, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the origin was checked
		CompressionMode:    websocket.CompressionDisabled,
	})
	if err != nil {
		s.o.Logger.Debug("a front end of the debugger could not attach", "error", err)
		return
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(2 * mostCommand) // others get an error of the protocol
	mine := newSession(s, conn)
	s.mu.Lock()
	before := s.attached
	if !s.closed {
		s.attached = mine
		s.sessions.Add(1)
	}
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return
	}
	defer s.sessions.Done()
	if before != nil {
		before.end(websocket.StatusGoingAway, "another debugger has attached")
		<-before.ended
	}
	s.o.OnFrontEnd(true)
	mine.run()
	s.mu.Lock()
	last := s.attached == mine
	if last {
		s.attached = nil
	}
	s.mu.Unlock()
	if last {
		s.o.OnFrontEnd(false)
	}
}

// newest returns the newest process; nil for none.
func (s *Server) newest() *workerd.Inspected {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.process
}
