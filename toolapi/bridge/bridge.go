// Package bridge carries MCP between a desktop agent, which speaks it in lines over a
// pipe, and a service, which answers it over HTTP.
//
// In go the lines of a reader, each a JSON-RPC message or an array of them; each is
// posted to the endpoint, and what comes back is written as a line. What the service
// refuses at its boundary, and what never reaches it, is answered as a JSON-RPC error
// for each request, so that the agent always gets an answer. Nothing of a message is
// changed, and nothing but the protocol's revision and session, and what was warned
// of, is remembered. The key is sent to the endpoint and nowhere else.
//
// Run returns ordinary errors, only of the reader and the writer.
package bridge

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/toolapi"
)

// Options of a bridge.
type Options struct {
	// Endpoint is the address that answers MCP: the service's and toolapi.MCPPath.
	Endpoint string
	// Key is the API key. Without one every message is refused.
	Key string
	// UserAgent defaults to "pages".
	UserAgent string
	// Transport defaults to http.DefaultTransport.
	Transport http.RoundTripper
	// Warn is told, in a sentence, of what the answers say is deprecated, once each.
	// Default nobody.
	Warn func(sentence string)
}

const (
	// longest is how long a line may be, and an answer, in bytes.
	longest = 16 << 20
	// atOnce is how many messages are under way at the same time.
	atOnce = 8

	headerProtocol = "Mcp-Protocol-Version"
	headerSession  = "Mcp-Session-Id"
	headerMethod   = "Mcp-Method"
	headerName     = "Mcp-Name"

	rpcParse  = -32700
	rpcFailed = -32603
)

// bridge is one run.
type bridge struct {
	Options
	http *http.Client

	mu       sync.Mutex
	protocol string // what initialize agreed on
	session  string
	warned   sync.Map // what of

	writing sync.Mutex
	out     io.Writer
	failed  error // of out
}

// Run carries messages until in ends, and returns when what was under way is
// answered. When ctx ends it gives up what is under way.
func Run(ctx context.Context, in io.Reader, out io.Writer, o Options) error {
	if o.UserAgent == "" {
		o.UserAgent = "pages"
	}
	b := &bridge{Options: o, out: out, http: &http.Client{
		Transport:     o.Transport,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }, // the key is for the endpoint alone
	}}
	lines, ended := make(chan []byte), make(chan error, 1)
	go func() { ended <- read(ctx, in, lines) }()
	var group sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for {
		select {
		case <-ctx.Done():
			group.Wait()
			return ctx.Err()
		case err := <-ended:
			group.Wait()
			return errors.Join(err, b.failed)
		case line := <-lines:
			messages, _, err := toolapi.Messages(line)
			if err != nil || len(messages) == 0 {
				b.write(failure(nil, rpcParse, "the line is no JSON-RPC message", nil))
				continue
			}
			if first := toolapi.ParseMessage(messages[0]); first.Method == "initialize" || first.ID == nil {
				b.carry(ctx, line, messages) // what follows relies on it
				continue
			}
			slots <- struct{}{}
			group.Go(func() { defer func() { <-slots }(); b.carry(ctx, line, messages) })
		}
	}
}

// read sends the lines of in that are not empty.
func read(ctx context.Context, in io.Reader, lines chan<- []byte) error {
	scan := bufio.NewScanner(in)
	scan.Buffer(make([]byte, 64<<10), longest)
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

// carry posts a line and writes what comes back.
func (b *bridge) carry(ctx context.Context, line []byte, messages []json.RawMessage) {
	parsed := make([]toolapi.Message, len(messages))
	for i, raw := range messages {
		parsed[i] = toolapi.ParseMessage(raw)
	}
	resp, err := b.post(ctx, line, parsed)
	if err != nil {
		b.refuse(parsed, "the service does not answer: "+b.redact(err.Error()), nil)
		return
	}
	defer resp.Body.Close()
	b.deprecated(resp)
	if session := resp.Header.Get(headerSession); session != "" {
		b.mu.Lock()
		b.session = session
		b.mu.Unlock()
	}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if resp.StatusCode == http.StatusOK && strings.TrimSpace(kind) == "text/event-stream" {
		if err := b.stream(resp.Body); err != nil {
			b.refuse(parsed, "the answer broke off: "+b.redact(err.Error()), nil)
		}
		return
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, longest))
	switch {
	case err != nil:
		b.refuse(parsed, "the answer broke off: "+b.redact(err.Error()), nil)
	case len(bytes.TrimSpace(text)) == 0 && resp.StatusCode < http.StatusMultipleChoices: // a notification was taken
	case isMessage(text):
		b.learn(text)
		b.write(text)
	default:
		b.refuse(parsed, boundary(resp.StatusCode, text), json.RawMessage(onlyJSON(text)))
	}
}

// deprecated warns once of each thing that an answer says is deprecated.
func (b *bridge) deprecated(resp *http.Response) {
	what, sentence, ok := toolapi.Deprecated(resp.Header, resp.Request.URL)
	if !ok || b.Warn == nil {
		return
	}
	if _, told := b.warned.LoadOrStore(what, true); !told {
		b.Warn(sentence)
	}
}

// post sends a line with the headers that its revision of MCP asks for.
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
	if len(messages) == 1 && messages[0].Protocol != "" { // the revisions that say it with each message
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

// stream writes the messages of an event stream as they come.
func (b *bridge) stream(body io.Reader) error {
	scan := bufio.NewScanner(body)
	scan.Buffer(make([]byte, 64<<10), longest)
	var data []byte
	for scan.Scan() {
		line := scan.Bytes()
		if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
			data = append(data, bytes.TrimPrefix(value, []byte(" "))...)
			data = append(data, '\n')
		}
		if len(line) == 0 && len(data) > 0 {
			b.learn(data)
			b.write(data)
			data = nil
		}
	}
	return scan.Err()
}

// isMessage reports whether an answer is of the protocol, and not of the boundary.
func isMessage(text []byte) bool {
	messages, batch, err := toolapi.Messages(text)
	if err != nil || len(messages) == 0 {
		return false
	}
	var m struct {
		Version string `json:"jsonrpc"`
	}
	return batch || json.Unmarshal(messages[0], &m) == nil && m.Version == "2.0"
}

// learn remembers the revision that initialize agreed on.
func (b *bridge) learn(text []byte) {
	var m struct {
		Result struct {
			Protocol string `json:"protocolVersion"`
		} `json:"result"`
	}
	if json.Unmarshal(text, &m) == nil && m.Result.Protocol != "" {
		b.mu.Lock()
		b.protocol = m.Result.Protocol
		b.mu.Unlock()
	}
}

// boundary is a refusal of the boundary in a sentence.
func boundary(status int, text []byte) string {
	var e toolapi.Error
	if json.Unmarshal(text, &e) == nil && e.Message != "" {
		return e.Message
	}
	return fmt.Sprintf("the service answered with HTTP status %d", status)
}

func onlyJSON(text []byte) []byte {
	if !json.Valid(text) {
		return nil
	}
	return text
}

// redact takes the key out of what is told: an error may hold what was sent.
func (b *bridge) redact(text string) string {
	if b.Key == "" {
		return text
	}
	return strings.ReplaceAll(text, b.Key, "…")
}

// refuse answers each request with an error.
func (b *bridge) refuse(messages []toolapi.Message, text string, data json.RawMessage) {
	for _, m := range messages {
		if m.ID != nil {
			b.write(failure(m.ID, rpcFailed, text, data))
		}
	}
}

// failure is a JSON-RPC error.
func failure(id json.RawMessage, code int, text string, data json.RawMessage) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	fields := map[string]any{"code": code, "message": text}
	if data != nil {
		fields["data"] = data
	}
	line, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "error": fields})
	if err != nil {
		return []byte(`{"jsonrpc":"2.0","id":null,"error":{"code":-32603,"message":"the answer cannot be told"}}`)
	}
	return line
}

// write writes one line.
func (b *bridge) write(message []byte) {
	var line bytes.Buffer
	if json.Compact(&line, message) != nil {
		return // only what is JSON comes here
	}
	line.WriteByte('\n')
	b.writing.Lock()
	defer b.writing.Unlock()
	if b.failed == nil {
		_, b.failed = b.out.Write(line.Bytes())
	}
}
