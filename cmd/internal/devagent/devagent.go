// Package devagent gives coding agents the tools of pages dev, over MCP.
//
// Input: a site, as commands of this program and the record of its running dev server. Output: an MCP server, over a pipe (Serve) or over
// HTTP (NewHandler). A tool returns JSON of at most 48 KB, in which stars replace the site's secrets; an error says what to do next. Tools
// that change data need Options.AllowWrite. A server is safe for concurrent use; its persona is that of all its clients.
//
// It listens nowhere, opens no database, and sends requests only to the site's own dev server. Its caller checks who may use the handler.
package devagent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
)

// Options are a site, and the rights of the agents on it.
type Options struct {
	Version  string
	Commands Commands
	// Server returns the record of the site's dev server; ok is false while none runs.
	Server func() (r localstate.DevServer, ok bool)
	// Star replaces the site's secrets in a text.
	Star      func(ctx context.Context, text string) string
	EdgeRules string // the mode of --edge-rules
	// AllowWrite admits tools that change data; Grant is the command line that sets it.
	AllowWrite bool
	Grant      string
}

// tools are the tools of one server.
type tools struct {
	Options

	server *mcp.Server

	mu      sync.Mutex
	jar     http.CookieJar // of the requests that agents send; guarded by mu
	persona string         // of the jar; guarded by mu
}

// instructions introduce the tools to an agent.
const instructions = "Tools of pages dev, the dev server of this site. After you saved a file, call problems with after_build, the " +
	"number of the last build that you know: it waits for the next build and returns the errors with file, line and fix. Send a request " +
	"with send_request, and pass its trace_id to trace to see each statement and call. docs_search answers questions about pages."

// newServer makes a server with all tools.
func newServer(o Options) *mcp.Server {
	server := mcp.NewServer(
		&mcp.Implementation{Name: "pages-dev", Version: o.Version},
		&mcp.ServerOptions{Instructions: instructions, Capabilities: &mcp.ServerCapabilities{}},
	)
	t := &tools{Options: o, server: server}
	t.signOut()
	t.addReports()
	t.addRequests()
	t.addData()
	return server
}

// Serve answers one agent over a pipe, until the agent closes it or ctx ends. It answers each request before it returns.
func Serve(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	p := &pipe{IOTransport: mcp.IOTransport{Reader: io.NopCloser(in), Writer: writer{out}}}
	err := newServer(o).Run(ctx, p)
	if ctx.Err() == nil && p.hasEnded() {
		return nil
	}
	return err
}

// writer is an io.WriteCloser whose Close does nothing.
type writer struct{ io.Writer }

// Close implements io.Closer.
func (writer) Close() error { return nil }

// NewHandler answers agents over streamable HTTP, without sessions.
func NewHandler(o Options) http.Handler {
	server := newServer(o)
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true,
		DisableLocalhostProtection: true, // the site checks the host by its own list
	})
}

// kind is the effect of a tool.
type kind int

const (
	reads kind = iota
	writes
)

// add adds a tool.
func add[In any](t *tools, name string, k kind, description string, do func(context.Context, In) (any, error)) {
	tool := &mcp.Tool{Name: name, Description: description, Annotations: &mcp.ToolAnnotations{ReadOnlyHint: k == reads}}
	mcp.AddTool(t.server, tool, func(ctx context.Context, _ *mcp.CallToolRequest, in In) (_ *mcp.CallToolResult, out any, err error) {
		defer func() {
			if p := recover(); p != nil { // a panic would end the dev server
				err = fmt.Errorf("the tool %s failed: %v; please report this", name, p)
			}
		}()
		if k == writes && !t.AllowWrite {
			return nil, nil, t.refuseWrite(name)
		}
		result, err := do(ctx, in)
		if err != nil {
			return nil, nil, errors.New(shortened(t.star(ctx, err.Error())))
		}
		text, err := json.Marshal(result)
		if err != nil {
			return nil, nil, err
		}
		starred := json.RawMessage(t.star(ctx, string(text)))
		if len(starred) > maxResult || !json.Valid(starred) {
			const long = "the result of %s has %d bytes, and a tool returns at most %d: ask for less"
			return nil, nil, fmt.Errorf(long, name, len(text), maxResult)
		}
		return nil, starred, nil
	})
}

// maxResult bounds the JSON of a result, and maxList that of the lists in it.
const (
	maxResult = 48 << 10
	maxList   = 32 << 10
)

// star replaces the site's secrets in a text, and the token of the run, which the dashboard's page has.
func (t *tools) star(ctx context.Context, text string) string {
	if r, ok := t.Server(); ok && r.Token != "" {
		text = strings.ReplaceAll(text, r.Token, strings.Repeat("*", len(r.Token)))
	}
	return t.Star(ctx, text)
}

// shortened returns the beginning of the text of an error, which may quote a file.
func shortened(text string) string {
	const most = 4 << 10
	if len(text) <= most {
		return text
	}
	return strings.ToValidUTF8(text[:most], "") + "…"
}

// refuseWrite is the error of a tool that changes data.
func (t *tools) refuseWrite(what string) error {
	return fmt.Errorf("%s changes data of the site, and this server only reads: ask the person to start it with %s", what, t.Grant)
}

// fit returns the first elements of a list that have room in a result.
func fit[T any](list []T) (fitting []T, cut bool) {
	size := 0
	for i, each := range list {
		text, err := json.Marshal(each)
		if size += len(text) + 1; err != nil || size > maxList {
			return list[:i], true
		}
	}
	if list == nil {
		list = []T{}
	}
	return list, false
}

// signOut forgets all cookies.
func (t *tools) signOut() {
	jar, err := cookiejar.New(nil)
	if err != nil {
		panic(err) // it fails only for options
	}
	t.jar, t.persona = jar, ""
}
