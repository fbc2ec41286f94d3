package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file gives the tools to the SDK of MCP, which speaks the protocol's revisions. A tool's result is the REST response:
// as structured content, and as text for older clients.

const mcpInstructions = "Every result names the workspace it ran in. On workspace_ambiguous offer the workspaces to " +
	"the person and never pick one. " +
	"A result with state confirmation_required has changed nothing: show request_summary to a person, and repeat the " +
	"same arguments with confirmation_id only after their go-ahead. " +
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
		server.AddTool(mcpTool(h.tool), func(ctx context.Context, r *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
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

// mcpTool makes the definition of a tool as MCP lists it.
func mcpTool(t *toolapi.Tool) *mcp.Tool {
	destroys, open := false, false // a proposal waits for a person
	return &mcp.Tool{
		Name: t.Name, Title: t.Title, Description: t.Description, InputSchema: mcpArguments(t), OutputSchema: t.AnswerSchema(),
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
	key["description"] = "text that you make up for this change, new for each: a retry with the same one gets the " +
		"first answer and changes nothing more"
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
		return nil, &jsonrpc.Error{Code: rpcInternal, Message: "the call came past the boundary"}
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

// mcpError makes the JSON-RPC error of a call that is already under way.
func mcpError(refused *toolapi.Error) error {
	data, err := json.Marshal(refused)
	if err != nil {
		data = nil
	}
	return &jsonrpc.Error{Code: rpcInternal, Message: refused.Message, Data: data}
}
