package service

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"runtime/debug"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file is the boundary of MCP (platform document, sections 1.3 and 7.1), between a POST and the SDK, which speaks the
// protocol's revisions. It refuses with the Error envelope; admitted requests get JSON-RPC. The SDK alone would
// refuse in plain text, take batches without end, and let a tool's panic end the process. A tool's result is the REST
// response: as structured content, and as text for older clients.

// Error codes of JSON-RPC and of MCP.
const (
	rpcInvalidRequest     = -32600
	rpcMethodNotFound     = -32601
	rpcInternal           = -32603
	rpcUnsupportedVersion = -32022
)

// protocolVersions are the supported revisions of MCP, oldest first.
var protocolVersions = []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"}

const (
	headerProtocol = "Mcp-Protocol-Version"
	// batchVersion is the only revision with arrays of messages, and the default.
	batchVersion = "2025-03-26"
)

// serveMCP answers POST /mcp.
func (s *Service) serveMCP(x *exchange) {
	var err error
	switch {
	case !ownOrigin(x.r):
		err = toolapi.NewError(toolapi.CodeOriginRefused, "Pages of other origins may not call this service.")
	case x.r.Method != http.MethodPost:
		x.Header().Set("Allow", http.MethodPost)
		err = toolapi.NewError(toolapi.CodeMethodNotAllowed, "Use POST for MCP: the service has no sessions and no streams.")
	default:
		err = s.admitMessages(x)
	}
	if err != nil {
		s.refuse(x, err)
	}
}

// ownOrigin reports whether a request comes from this service's own pages, or from no web page.
func ownOrigin(r *http.Request) bool {
	sent := r.Header.Values("Origin")
	return len(sent) == 0 || len(sent) == 1 && strings.EqualFold(sent[0], "http://"+r.Host)
}

// admitMessages admits a request and passes its messages to the SDK.
func (s *Service) admitMessages(x *exchange) error {
	c := &call{service: s, hash: hashKey(bearerKey(x.r)), request: x.request, now: s.now()}
	if err := s.admit(x, c); err != nil {
		return err
	}
	messages, batch, err := readMessages(x)
	if err != nil {
		return err
	}
	version := x.r.Header.Get(headerProtocol)
	if version != "" && !slices.Contains(protocolVersions, version) {
		refusal := rpcError(messages[0].ID, rpcUnsupportedVersion, "unsupported protocol version",
			map[string]any{"supported": protocolVersions, "requested": version})
		x.reply(http.StatusBadRequest, append(refusal, '\n'))
		return nil
	}
	caller := mcpCaller{hash: c.hash, request: x.request}
	if caller.headerID, err = s.headerIdempotencyKey(x.r.Header, messages, batch); err != nil {
		return err
	}
	x.r = x.r.WithContext(context.WithValue(context.WithoutCancel(x.r.Context()), mcpCallerKey{}, caller))
	if !batch {
		if _, ok := s.tools[messages[0].Tool]; ok { // only existing tools are logged and counted
			x.tool = messages[0].Tool
		}
		reply := s.callSDK(x.r, messages[0])
		switch {
		case reply.body != nil:
			x.reply(reply.status, append(reply.body, '\n'))
		case reply.status == http.StatusAccepted:
			x.WriteHeader(http.StatusAccepted)
		default:
			return toolapi.NewError(toolapi.CodeMalformedBody, "MCP has no such message.")
		}
		return nil
	}
	if version != "" && version != batchVersion {
		return toolapi.NewError(toolapi.CodeMalformedBody, "This revision of MCP takes one message at a time, not an array.")
	}
	if err := s.count(x, c.who, len(messages)-1); err != nil {
		return err
	}
	return s.serveBatch(x, messages)
}

// readMessages reads the body, of one message or of a batch.
func readMessages(x *exchange) (messages []toolapi.Message, batch bool, err error) {
	kind, parameters, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if charset, there := parameters["charset"]; err != nil || kind != "application/json" || there && !strings.EqualFold(charset, "utf-8") {
		return nil, false, toolapi.NewError(toolapi.CodeMediaType, "Messages must be sent as Content-Type: application/json, in UTF-8.")
	}
	if !acceptsJSONAndStream(x.r.Header) {
		return nil, false, toolapi.NewError(toolapi.CodeNotAcceptable,
			"Accept must list application/json and text/event-stream, as MCP requires.")
	}
	text, err := x.body()
	if err != nil {
		return nil, false, err
	}
	all, batch, err := toolapi.Messages(text)
	if err != nil {
		return nil, batch, err
	}
	ids := map[string]bool{}
	for _, raw := range all {
		m := toolapi.ParseMessage(raw)
		if !batch && !m.Valid {
			return nil, false, toolapi.NewError(toolapi.CodeMalformedBody, "The request body must be a JSON-RPC 2.0 message.")
		}
		if raw[0] == '[' || m.ID != nil && ids[string(m.ID)] {
			return nil, batch, toolapi.NewError(toolapi.CodeMalformedBody,
				"The array must hold messages, and each request needs its own id.")
		}
		ids[string(m.ID)] = true
		messages = append(messages, m)
	}
	if len(messages) == 0 {
		return nil, batch, toolapi.NewError(toolapi.CodeMalformedBody, "The array must hold at least one message.")
	}
	return messages, batch, nil
}

// acceptsJSONAndStream reports whether Accept has both types of MCP's HTTP transport.
func acceptsJSONAndStream(h http.Header) bool {
	document, stream := false, false
	for part := range strings.SplitSeq(strings.Join(h.Values("Accept"), ","), ",") {
		kind, _, _ := strings.Cut(part, ";")
		switch strings.ToLower(strings.TrimSpace(kind)) {
		case "*/*":
			document, stream = true, true
		case "application/json", "application/*":
			document = true
		case "text/event-stream", "text/*":
			stream = true
		}
	}
	return document && stream
}

// headerIdempotencyKey returns the idempotency key of the header, which goes with one call of a tool that can replay it.
func (s *Service) headerIdempotencyKey(h http.Header, messages []toolapi.Message, batch bool) (string, error) {
	key, err := toolapi.HeaderKey(h)
	if err != nil || key == "" {
		return "", err
	}
	tool, ok := s.tools[messages[0].Tool]
	if batch || !ok || !tool.tool.Replays {
		return "", toolapi.NewError(toolapi.CodeIdempotencyUnsupported,
			"Idempotency-Key belongs to one call of a tool that can replay a retry: send this without it.")
	}
	arguments, err := toolapi.ParseObject(messages[0].Arguments)
	if err == nil && arguments.Has("idempotency_key") && arguments.String("idempotency_key") != key {
		return "", toolapi.NewError(toolapi.CodeIdempotencyConflict,
			"Idempotency-Key and the argument idempotency_key differ: send one of them.")
	}
	return key, nil
}

// serveBatch handles an array: one message after another, with one response for each request.
func (s *Service) serveBatch(x *exchange, messages []toolapi.Message) error {
	var replies [][]byte
	for _, m := range messages {
		reply := mcpReply{}
		switch {
		case !m.Valid:
			reply.body = rpcError(m.ID, rpcInvalidRequest, "not a JSON-RPC 2.0 message", nil)
		case m.Method == "initialize":
			reply.body = rpcError(m.ID, rpcInvalidRequest, "initialize must be sent alone", nil)
		default:
			reply = s.callSDK(x.r, m)
		}
		if reply.body != nil {
			replies = append(replies, reply.body)
		}
	}
	if len(replies) == 0 {
		x.WriteHeader(http.StatusAccepted)
		return nil
	}
	x.reply(http.StatusOK, slices.Concat([]byte("["), bytes.Join(replies, []byte(",")), []byte("]\n")))
	return nil
}

// mcpReply is the SDK's response to one message; the body is nil for none.
type mcpReply struct {
	status int
	body   []byte
}

// callSDK passes one message to the SDK.
func (s *Service) callSDK(r *http.Request, m toolapi.Message) mcpReply {
	if m.Method == "subscriptions/listen" { // would never end; nothing here changes
		return mcpReply{http.StatusNotFound, rpcError(m.ID, rpcMethodNotFound, "method not found", nil)}
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(m.Raw)), int64(len(m.Raw))
	r.Header.Del("Last-Event-Id") // the service has no streams to resume
	w := &recorder{header: http.Header{}}
	s.mcp().ServeHTTP(w, r)
	if strings.HasPrefix(w.header.Get("Content-Type"), "application/json") {
		return mcpReply{w.status, rewriteSDKError(m, bytes.TrimSpace(w.body.Bytes()))}
	}
	reply := mcpReply{status: w.status}
	if m.ID == nil || w.status < http.StatusBadRequest {
		return reply
	}
	// The SDK refuses an unknown method, or invalid parameters, in plain text.
	code, text := rpcInvalidRequest, "the request does not match its method"
	if !slices.Contains([]string{"initialize", "ping", "tools/list", "tools/call", "server/discover"}, m.Method) {
		code, text = rpcMethodNotFound, "method not found"
	}
	reply.body = rpcError(m.ID, code, text, nil)
	return reply
}

// rewriteSDKError replaces the SDK's error for parameters that it cannot read, which names its own types.
func rewriteSDKError(m toolapi.Message, reply []byte) []byte {
	const unread = "handling '"
	var failed struct {
		Error struct {
			Code    int    `json:"code"`
			Message string `json:"message"`
		} `json:"error"`
	}
	if !bytes.Contains(reply, []byte(unread)) || json.Unmarshal(reply, &failed) != nil ||
		!strings.HasPrefix(failed.Error.Message, unread) {
		return reply
	}
	return rpcError(m.ID, failed.Error.Code, "the parameters are not those of "+m.Method, nil)
}

// rpcError makes a JSON-RPC error; the id is null for a message without one.
func rpcError(id json.RawMessage, code int, text string, data any) []byte {
	if id == nil {
		id = json.RawMessage("null")
	}
	type rpc struct {
		Code    int    `json:"code"`
		Message string `json:"message"`
		Data    any    `json:"data,omitempty"`
	}
	body, err := json.Marshal(struct {
		Version string          `json:"jsonrpc"`
		ID      json.RawMessage `json:"id"`
		Error   rpc             `json:"error"`
	}{"2.0", id, rpc{code, text, data}})
	if err != nil {
		panic(err) // an id that was parsed, and data of our own
	}
	return body
}

// recorder is an http.ResponseWriter in memory.
type recorder struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (w *recorder) Header() http.Header { return w.header }

// WriteHeader implements http.ResponseWriter.
func (w *recorder) WriteHeader(status int) {
	if w.status == 0 {
		w.status = status
	}
}

// Write implements http.ResponseWriter.
func (w *recorder) Write(b []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	return w.body.Write(b)
}

// Flush implements http.Flusher.
func (w *recorder) Flush() {}

const mcpInstructions = "Every result names the workspace it ran in. On workspace_ambiguous offer the workspaces to " +
	"the person and never pick one. " +
	"A result with state confirmation_required has changed nothing: show request_summary to a person, and repeat the " +
	"same arguments with confirmation_id only after their approval. " +
	"Never call a page live unless serving_now is true."

// mcpCaller is the sender of a message, passed through the SDK in a context.
type mcpCaller struct {
	hash     []byte
	request  string
	headerID string
}

type mcpCallerKey struct{}

func (s *Service) mcpOptions() *mcp.ServerOptions {
	return &mcp.ServerOptions{
		Instructions: mcpInstructions,
		Capabilities: &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}, // the list never changes
		PageSize:     len(s.tools),
	}
}

func (s *Service) mcpServer(o *mcp.ServerOptions) *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "workspace-tools", Title: "Workspace Tool-Call API", Version: toolapi.Version}, o)
	for _, h := range s.tools {
		server.AddTool(mcpTools()[h.tool.Name], func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return s.callMCP(ctx, h.tool.Name, r.Params.Arguments)
		})
	}
	return server
}

// serveMCP serves over HTTP: one document for one message.
func serveMCP(server *mcp.Server) http.Handler {
	return mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true,
		DisableLocalhostProtection: true, // the boundary checks Host
	})
}

// mcpTools are the definitions of the tools, by their names, which are the same for every service.
var mcpTools = sync.OnceValue(func() map[string]*mcp.Tool {
	tools := map[string]*mcp.Tool{}
	for name, h := range bind(toolapi.NewContract()) {
		tools[name] = mcpTool(h.tool)
	}
	return tools
})

// mcpTool makes the definition of a tool as MCP lists it.
func mcpTool(t *toolapi.Tool) *mcp.Tool {
	destroys, open := false, false // a proposal has no effect yet
	return &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: mcpArguments(t), OutputSchema: t.ResponseSchema(),
		Annotations: &mcp.ToolAnnotations{
			Title: t.Title, ReadOnlyHint: t.Effect == toolapi.Reads,
			IdempotentHint: t.Replays || t.Effect == toolapi.Reads, DestructiveHint: &destroys, OpenWorldHint: &open,
		},
	}
}

// mcpArguments makes the schema of a tool's arguments for MCP: an agent sends no headers, so its idempotency key is an
// argument like any other.
func mcpArguments(t *toolapi.Tool) json.RawMessage {
	text := t.ArgumentsSchema()
	if !t.Replays {
		return text
	}
	var schema struct {
		Properties map[string]map[string]any `json:"properties"`
		Required   []string                  `json:"required"`
	}
	var all map[string]any
	if err := errors.Join(json.Unmarshal(text, &schema), json.Unmarshal(text, &all)); err != nil {
		panic(err) // a schema of our own
	}
	key := schema.Properties["idempotency_key"]
	delete(key, "deprecated")
	key["description"] = "text that you choose, new for each change: a retry with the same key gets the " +
		"first response and changes nothing more"
	all["properties"], all["required"] = schema.Properties, append(schema.Required, "idempotency_key")
	text, err := json.Marshal(all)
	if err != nil {
		panic(err) // as above
	}
	return text
}

// callMCP runs a tool for a message.
func (s *Service) callMCP(ctx context.Context, name string, arguments json.RawMessage) (result *mcp.CallToolResult, err error) {
	caller, ok := ctx.Value(mcpCallerKey{}).(mcpCaller)
	if !ok {
		return nil, &jsonrpc.Error{Code: rpcInternal, Message: "the call bypassed the boundary"}
	}
	defer func() {
		if p := recover(); p != nil {
			s.log.Error("panic", "request", caller.request, "tool", name, "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
			result, err = nil, mcpError(internal())
		}
	}()
	h := s.tools[name]
	c := &call{service: s, hash: caller.hash, request: caller.request, headerID: caller.headerID, now: s.now(), tool: h.tool}
	body, malformed := toolapi.ParseObject(arguments)
	var a response
	if c.body = body; malformed != nil {
		a, err = h.auditRefusal(ctx, c, invalid(toolapi.Issue{Message: "must be an object"}))
	} else {
		a, err = h.dispatch(ctx, c)
	}
	if err != nil {
		refused, ok := errors.AsType[*toolapi.Error](err)
		if !ok {
			s.log.Error("failed", "request", caller.request, "tool", name, "error", err.Error())
			refused = serviceFailure(err)
		}
		return nil, mcpError(refused)
	}
	return &mcp.CallToolResult{
		Content: []mcp.Content{&mcp.TextContent{Text: string(a.body)}}, StructuredContent: json.RawMessage(a.body),
		IsError: a.refused != "",
	}, nil
}

// mcpError makes the JSON-RPC error of a call that has already begun.
func mcpError(refused *toolapi.Error) error {
	data, err := json.Marshal(refused)
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: rpcInternal, Message: refused.Message, Data: data}
}
