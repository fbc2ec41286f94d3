// Package bridge forwards MCP between a desktop agent, which speaks it in lines over a
// pipe, and a service, which speaks it over HTTP.
//
// Input: the lines of a reader, each a JSON-RPC message or an array of them. Each is posted to the
// endpoint, and the response is written as a line. A request that the service refuses at its
// boundary, does not receive, or leaves open gets a JSON-RPC error, so that the agent always gets a
// response. Messages pass unchanged; the bridge keeps only the protocol's revision, the session and
// past warnings. It sends the key only to the endpoint.
//
// Run returns ordinary errors, only of the reader and the writer.
package bridge

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// Options of a bridge.
type Options struct {
	Endpoint  string                // the service's address and toolapi.MCPPath
	Key       string                // the API key; without it the service refuses every message
	UserAgent string                // default "pages"
	Transport http.RoundTripper     // default http.DefaultTransport
	Idle      time.Duration         // bounds the silence before or in a response; default 11 minutes: a call may apply migrations for ten
	Warn      func(sentence string) // gets each deprecation in a response, once; default none
}

const (
	maxLine     = 16 << 20 // bytes of a line, and of a response
	maxParallel = 8        // concurrent messages

	headerProtocol = "Mcp-Protocol-Version"
	headerSession  = "Mcp-Session-Id"
	headerMethod   = "Mcp-Method"
	headerName     = "Mcp-Name"

	rpcParse  = -32700
	rpcFailed = -32603
)

type bridge struct {
	Options
	http *http.Client

	mu       sync.Mutex
	protocol string // that initialize agreed on
	session  string
	warned   sync.Map // deprecations

	writing sync.Mutex
	out     io.Writer
	failed  error // the error of out
}

// Run forwards messages until in ends, and returns when all responses are written. When ctx ends it
// abandons open messages.
func Run(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	o.UserAgent, o.Idle = cmp.Or(o.UserAgent, "pages"), cmp.Or(o.Idle, 11*time.Minute)
	b := &bridge{Options: o, out: out, http: &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the key is for the endpoint alone
	}}
	lines, ended := make(chan []byte), make(chan error, 1)
	go func() { ended <- readLines(ctx, in, lines) }()
	var group sync.WaitGroup
	slots := make(chan struct{}, maxParallel)
	for {
		select {
		case <-ctx.Done():
			group.Wait()
			return ctx.Err()
		case err := <-ended:
			group.Wait()
			return errors.Join(err, b.failed)
		case line := <-lines:
			messages, batch, err := toolapi.Messages(line)
			if err != nil || len(messages) == 0 || !batch && !toolapi.ParseMessage(messages[0]).Valid {
				b.write(failure(nil, rpcParse, "the line is not a JSON-RPC message", nil))
				continue
			}
			if first := toolapi.ParseMessage(messages[0]); first.Method == "initialize" || first.ID == nil {
				b.forward(ctx, line, messages) // the following messages rely on it
				continue
			}
			slots <- struct{}{}
			group.Go(func() { defer func() { <-slots }(); b.forward(ctx, line, messages) })
		}
	}
}

// readLines sends the lines of in that are not empty.
func readLines(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	scan := bufio.NewScanner(in)
	scan.Buffer(make([]byte, 64<<10), maxLine)
	for scan.Scan() {
		line := bytes.Clone(bytes.TrimSpace(scan.Bytes()))
		if len(line) == 0 {
			continue
		}
		select {
		case lines <- line:
		case <-ctx.Done():
			return nil
		}
	}
	return scan.Err()
}

// forward posts a line and writes the response, and an error for each request without one.
func (b *bridge) forward(ctx context.Context, line []byte, messages []json.RawMessage) {
	parsed := make([]toolapi.Message, len(messages))
	open := map[any]bool{} // ids of requests without a response
	for i, raw := range messages {
		parsed[i] = toolapi.ParseMessage(raw)
		if id := comparableID(parsed[i].ID); id != nil {
			open[id] = true
		}
	}
	reason, data := b.exchange(ctx, line, parsed, open)
	for _, m := range parsed {
		if id := comparableID(m.ID); id != nil && open[id] {
			b.write(failure(m.ID, rpcFailed, b.redact(reason), json.RawMessage(b.redact(string(data)))))
		}
	}
}

// exchange posts a line, writes the responses, and takes their requests out of open. For the open ones it returns the reason, and the
// service's text if it is JSON.
func (b *bridge) exchange(ctx context.Context, line []byte, messages []toolapi.Message, open map[any]bool) (reason string, data []byte) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(b.Idle, func() { cancel(errIdle) })
	defer idle.Stop()
	broken := func(what string, err error) (string, []byte) {
		if errors.Is(context.Cause(ctx), errIdle) {
			err = errIdle
		}
		return what + ": " + err.Error(), nil
	}
	resp, err := b.post(ctx, line, messages)
	if err != nil {
		return broken("the service does not answer", err)
	}
	defer resp.Body.Close()
	if what, sentence, ok := toolapi.Deprecated(resp.Header, resp.Request.URL); ok && b.Warn != nil {
		if _, warned := b.warned.LoadOrStore(what, true); !warned {
			b.Warn(sentence)
		}
	}
	if session := resp.Header.Get(headerSession); session != "" {
		b.mu.Lock()
		b.session = session
		b.mu.Unlock()
	}
	const missing = "the service did not answer the request"
	body := &watched{resp.Body, func() { idle.Reset(b.Idle) }}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if resp.StatusCode == http.StatusOK && strings.TrimSpace(kind) == "text/event-stream" {
		if err := b.writeStream(body, open); err != nil {
			return broken("the response ended early", err)
		}
		return missing, nil
	}
	text, err := io.ReadAll(io.LimitReader(body, maxLine))
	switch {
	case err != nil:
		return broken("the response ended early", err)
	case b.writeResponse(text, open), len(bytes.TrimSpace(text)) == 0 && resp.StatusCode < http.StatusMultipleChoices:
		return missing, nil
	}
	reason = fmt.Sprintf("the service answered with HTTP status %d", resp.StatusCode)
	var refusal toolapi.Error
	if json.Unmarshal(text, &refusal) == nil && refusal.Message != "" {
		reason = refusal.Message
	}
	if !json.Valid(text) {
		text = nil
	}
	return reason, text
}

// errIdle ends an exchange without further bytes.
var errIdle = errors.New("no data arrived for too long")

// watched calls moved when bytes were read.
type watched struct {
	io.Reader
	moved func()
}

// Read implements io.Reader.
func (w *watched) Read(p []byte) (int, error) {
	n, err := w.Reader.Read(p)
	if n > 0 {
		w.moved()
	}
	return n, err
}

// post sends a line with the headers of its revision of MCP.
func (b *bridge) post(ctx context.Context, line []byte, messages []toolapi.Message) (*http.Response, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, b.Endpoint, bytes.NewReader(line))
	if err != nil {
		return nil, err
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("User-Agent", b.UserAgent)
	if b.Key != "" {
		r.Header.Set("Authorization", "Bearer "+b.Key)
	}
	b.mu.Lock()
	protocol, session := b.protocol, b.session
	b.mu.Unlock()
	if len(messages) == 1 && messages[0].Protocol != "" { // stateless revisions name themselves in each message
		protocol = messages[0].Protocol
		r.Header.Set(headerMethod, messages[0].Method)
		if messages[0].Tool != "" {
			r.Header.Set(headerName, messages[0].Tool)
		}
	}
	if protocol != "" {
		r.Header.Set(headerProtocol, protocol)
	}
	if session != "" {
		r.Header.Set(headerSession, session)
	}
	return b.http.Do(r)
}

// writeStream writes the messages of an event stream as they come.
func (b *bridge) writeStream(body io.Reader, open map[any]bool) error {
	scan := bufio.NewScanner(body)
	scan.Buffer(make([]byte, 64<<10), maxLine)
	var data []byte
	for scan.Scan() {
		line := scan.Bytes()
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
			data = append(data, '\n')
		}
		if len(line) == 0 && len(data) > 0 {
			b.writeResponse(data, open)
			data = nil
		}
	}
	return scan.Err()
}

// message is a JSON-RPC message of the service, as far as the bridge reads it.
type message struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
}

// writeResponse writes a message, or an array of them, and takes their requests out of open. It returns false for
// other texts, such as a refusal of the boundary.
func (b *bridge) writeResponse(text []byte, open map[any]bool) bool {
	var all []message
	if json.Unmarshal(text, &all) != nil {
		all = make([]message, 1)
		if json.Unmarshal(text, &all[0]) != nil {
			return false
		}
	}
	if len(all) == 0 || slices.ContainsFunc(all, func(m message) bool { return m.Version != "2.0" }) {
		return false
	}
	for _, m := range all {
		if id := comparableID(m.ID); m.Method == nil && id != nil {
			delete(open, id)
		}
	}
	var initialized struct {
		Result struct {
			Protocol string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(text, &initialized) == nil && initialized.Result.Protocol != "" {
		b.mu.Lock()
		b.protocol = initialized.Result.Protocol
		b.mu.Unlock()
	}
	b.write(text)
	return true
}

// comparableID returns an id as a string or a number; nil for none.
func comparableID(id json.RawMessage) any {
	var v any
	if json.Unmarshal(id, &v) != nil {
		return nil
	}
	switch v.(type) {
	case string, float64:
		return v
	}
	return nil
}

// redact removes the key from a text: an error may hold the request.
func (b *bridge) redact(text string) string {
	if b.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, b.Key, "…")
}

func failure(id json.RawMessage, code int, text string, data json.RawMessage) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	fields := map[string]any{"code": code, "message": text}
	if len(data) > 0 {
		fields["data"] = data
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": fields})
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the response cannot be encoded"}}`)
	}
	return line
}

func (b *bridge) write(text []byte) {
	var line bytes.Buffer
	if json.Compact(&line, text) != nil {
		return // every caller has JSON
	}
	line.WriteByte('\n')
	b.writing.Lock()
	defer b.writing.Unlock()
	if b.failed == nil {
		_, b.failed = b.out.Write(line.Bytes())
	}
}
