package service

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file is the boundary of MCP (platform document, sections 1.3 and 7.1), between a POST and the SDK (mcp_tools.go). It
// refuses with the Error envelope; what it admits is answered in JSON-RPC. The SDK alone would refuse in plain text, take
// batches without end, and let a tool's panic end the process.

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
		err = toolapi.NewError(toolapi.CodeMethodNotAllowed, "MCP is spoken with POST: the service keeps no sessions and opens no streams.")
	default:
		err = s.admitMessages(x)
	}
	if err != nil {
		s.refuse(x, err)
	}
}

// ownOrigin reports whether a request comes from no web page, or from a page of this service.
func ownOrigin(r *http.Request) bool {
	sent := r.Header.Values("Origin")
	return len(sent) == 0 || len(sent) == 1 && strings.EqualFold(sent[0], "http://"+r.Host)
}

// admitMessages admits a request and takes its messages to the SDK.
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
			return toolapi.NewError(toolapi.CodeMalformedBody, "The message is not one that MCP has.")
		}
		return nil
	}
	if version != "" && version != batchVersion {
		return toolapi.NewError(toolapi.CodeMalformedBody, "This revision of MCP takes one message at a time, and no array.")
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
			"Accept must have application/json and text/event-stream, as MCP wants it.")
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
				"The array must hold messages, each request with an id of its own.")
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
			"Idempotency-Key goes with one call of a tool that can replay a retry: send this without it.")
	}
	arguments, err := toolapi.ParseObject(messages[0].Arguments)
	if err == nil && arguments.Has("idempotency_key") && arguments.String("idempotency_key") != key {
		return "", toolapi.NewError(toolapi.CodeIdempotencyConflict,
			"Idempotency-Key and the argument idempotency_key differ: send one of them.")
	}
	return key, nil
}

// serveBatch answers an array: one message after another, and each request once.
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

// callSDK takes one message to the SDK.
func (s *Service) callSDK(r *http.Request, m toolapi.Message) mcpReply {
	if m.Method == "subscriptions/listen" { // would never end; nothing here changes
		return mcpReply{http.StatusNotFound, rpcError(m.ID, rpcMethodNotFound, "method not found", nil)}
	}
	r = r.Clone(r.Context())
	r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(m.Raw)), int64(len(m.Raw))
	r.Header.Del("Last-Event-Id") // there are no streams
	w := &recorder{header: http.Header{}}
	s.mcp.ServeHTTP(w, r)
	if strings.HasPrefix(w.header.Get("Content-Type"), "application/json") {
		return mcpReply{w.status, rewriteSDKError(m, bytes.TrimSpace(w.body.Bytes()))}
	}
	reply := mcpReply{status: w.status}
	if m.ID == nil || w.status < http.StatusBadRequest {
		return reply
	}
	// The SDK refuses an unknown method, or invalid parameters, in plain text.
	code, text := rpcInvalidRequest, "the request is not one that its method takes"
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
