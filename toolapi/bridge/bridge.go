// Package bridge carries MCP between a desktop agent, which speaks it in lines over a
// pipe, and a service, which answers it over HTTP.
//
// In go the lines of a reader, each a JSON-RPC message or an array of them; each is
// posted to the endpoint, and what comes back is written as a line. What the service
// refuses at its boundary, what never reaches it, and what it leaves unanswered, is
// answered as a JSON-RPC error for each request, so that the agent always gets an
// answer. Nothing of a message is changed, and nothing but the protocol's revision and
// session, and what was warned of, is remembered. The key is sent to the endpoint and
// nowhere else.
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
	"slices"
	"strings"
	"sync"
	"time"

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
	// Idle is how long a service may go without a byte while it is waited for. Default 11 minutes:
	// a confirmed call may apply migrations for ten.
	Idle time.Duration
	// Warn is told, in a sentence, of what the answers say is deprecated, once each.
	// Default nobody.
	Warn func(sentence string)
}

const (
	// longest is how long a line may be, and an answer, in bytes.
	longest = 16 << 20
	// atOnce is how many messages are under way at the same time.
	atOnce = 8
	// longestQuiet is the default of Idle.
	longestQuiet = 11 * time.Minute

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
	if o.Idle == 0 {
		o.Idle = longestQuiet
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
			messages, batch, err := toolapi.Messages(line)
			if err != nil || len(messages) == 0 || !batch && !toolapi.ParseMessage(messages[0]).Valid {
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

// carry posts a line, writes what comes back, and answers the requests that nothing came back for.
func (b *bridge) carry(ctx context.Context, line []byte, messages []json.RawMessage) {
	parsed := make([]toolapi.Message, len(messages))
	open := map[any]bool{} // ids of requests that are not answered
	for i, raw := range messages {
		parsed[i] = toolapi.ParseMessage(raw)
		if id := value(parsed[i].ID); id != nil {
			open[id] = true
		}
	}
	why, data := b.exchange(ctx, line, parsed, open)
	for _, m := range parsed {
		if id := value(m.ID); id != nil && open[id] {
			b.write(failure(m.ID, rpcFailed, b.redact(why), json.RawMessage(b.redact(string(data)))))
		}
	}
}

// exchange posts a line, and takes the requests that are answered out of open. It returns why the
// others are not, and what the service said to that, if it was JSON.
func (b *bridge) exchange(ctx context.Context, line []byte, messages []toolapi.Message, open map[any]bool) (why string, data []byte) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	idle := time.AfterFunc(b.Idle, func() { cancel(errQuiet) })
	defer idle.Stop()
	broken := func(what string, err error) (string, []byte) {
		if errors.Is(context.Cause(ctx), errQuiet) {
			err = errQuiet
		}
		return what + ": " + err.Error(), nil
	}
	resp, err := b.post(ctx, line, messages)
	if err != nil {
		return broken("the service does not answer", err)
	}
	defer resp.Body.Close()
	b.deprecated(resp)
	if session := resp.Header.Get(headerSession); session != "" {
		b.mu.Lock()
		b.session = session
		b.mu.Unlock()
	}
	const missing = "the service did not answer the request"
	body := &watched{resp.Body, func() { idle.Reset(b.Idle) }}
	kind, _, _ := strings.Cut(resp.Header.Get("Content-Type"), ";")
	if resp.StatusCode == http.StatusOK && strings.TrimSpace(kind) == "text/event-stream" {
		if err := b.stream(body, open); err != nil {
			return broken("the answer broke off", err)
		}
		return missing, nil
	}
	text, err := io.ReadAll(io.LimitReader(body, longest))
	switch {
	case err != nil:
		return broken("the answer broke off", err)
	case b.pass(text, open), len(bytes.TrimSpace(text)) == 0 && resp.StatusCode < http.StatusMultipleChoices:
		return missing, nil
	}
	return boundary(resp.StatusCode, text), onlyJSON(text)
}

// errQuiet ends an exchange in which nothing comes any more.
var errQuiet = errors.New("nothing came for too long")

// watched tells of every byte.
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
func (b *bridge) stream(body io.Reader, open map[any]bool) error {
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
			b.pass(data, open)
			data = nil
		}
	}
	return scan.Err()
}

// reply is what is looked at of a message that comes back.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"`
	Method  *string         `json:"method"`
}

// pass writes an answer of the protocol, and takes the requests it answers out of open. It reports false of
// what is none, as the boundary's are.
func (b *bridge) pass(text []byte, open map[any]bool) bool {
	var all []reply
	if json.Unmarshal(text, &all) != nil {
		all = make([]reply, 1)
		if json.Unmarshal(text, &all[0]) != nil {
			return false
		}
	}
	if len(all) == 0 || slices.ContainsFunc(all, func(r reply) bool { return r.Version != "2.0" }) {
		return false
	}
	for _, r := range all {
		if id := value(r.ID); r.Method == nil && id != nil {
			delete(open, id)
		}
	}
	b.learn(text)
	b.write(text)
	return true
}

// value is an id to compare with others: a string or a number, nil for none.
func value(id json.RawMessage) any {
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

// failure is a JSON-RPC error.
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
