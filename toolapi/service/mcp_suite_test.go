//go:build npm

package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file runs test suites of others for MCP, from npm: its conformance suite, and the
// client that agents are made with. `make npm` installs them.

const suites = "../../testdata/sites/mcp"

// node runs a program of the suites' folder.
func node(t *testing.T, stdin string, args ...string) (stdout, stderr string, err error) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "node", args...)
	cmd.Dir, cmd.Stdin = suites, strings.NewReader(stdin)
	var out, told bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &told
	err = cmd.Run()
	return out.String(), told.String(), err
}

// TestNPMConformance: the suite brings no key, so one is added on the way.
func TestNPMConformance(t *testing.T) {
	w := newFixture(t)
	w.service.WithFixtures(func(o *mcp.ServerOptions) {
		o.PageSize = 0
		o.CompletionHandler = func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{"paris"}}}, nil
		}
		o.SubscribeHandler = func(context.Context, *mcp.SubscribeRequest) error { return nil }
		o.UnsubscribeHandler = func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
		o.Capabilities.Logging = &mcp.LoggingCapabilities{} //nolint:staticcheck // the suite needs it
	}, addFixtures)
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		r.Header.Set("Authorization", "Bearer "+w.demo.Keys["member"])
		w.service.ServeHTTP(rw, r)
	}))
	defer server.Close()
	expected, err := filepath.Abs("testdata/mcp-expected.yml")
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := node(t, "", "node_modules/@modelcontextprotocol/conformance/dist/index.js", "server",
		"--url", server.URL+toolapi.MCPPath, "--suite", "active", "--expected-failures", expected)
	t.Log(stdout, stderr)
	if err != nil {
		t.Error(err)
	}
}

// pixel is a PNG of one.
var pixel = []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x01\x08\x06\x00\x00\x00\x1f\x15\xc4\x89" +
	"\x00\x00\x00\rIDATx\x9cc\xf8\xcf\xc0\xf0\x1f\x00\x05\x00\x01\xff\xab\xd0\x0e\x8a\x00\x00\x00\x00IEND\xaeB`\x82")

// addFixtures adds the tools, resources and prompts that the suite calls by name.
func addFixtures(server *mcp.Server) {
	image, sound := &mcp.ImageContent{Data: pixel, MIMEType: "image/png"}, &mcp.AudioContent{Data: []byte("RIFF"), MIMEType: "audio/wav"}
	text := func(s string) *mcp.TextContent { return &mcp.TextContent{Text: s} }
	embedded := func(uri string) *mcp.EmbeddedResource {
		return &mcp.EmbeddedResource{Resource: &mcp.ResourceContents{URI: uri, MIMEType: "text/plain", Text: "embedded"}}
	}
	for name, content := range map[string][]mcp.Content{
		"test_simple_text":            {text("This is a simple text response for testing.")},
		"test_image_content":          {image},
		"test_audio_content":          {sound},
		"test_embedded_resource":      {embedded("test://embedded-resource")},
		"test_multiple_content_types": {text("Multiple content types test:"), image, embedded("test://mixed-content-resource")},
		"test_error_handling":         {text("This tool intentionally returns an error for testing")},
		"json_schema_2020_12_tool":    {text("nothing")},
	} {
		schema := json.RawMessage(`{"$schema": "https://json-schema.org/draft/2020-12/schema",
			"type": "object", "additionalProperties": false,
			"$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
			"properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}}}`)
		server.AddTool(&mcp.Tool{Name: name, Description: "A fixture.", InputSchema: schema},
			func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
				return &mcp.CallToolResult{Content: content, IsError: strings.Contains(name, "error")}, nil
			})
	}
	read := func(c mcp.ResourceContents) mcp.ResourceHandler {
		return func(_ context.Context, r *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
			c := c
			c.URI = r.Params.URI
			if c.Blob == nil {
				c.Text += " of " + c.URI
			}
			return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{&c}}, nil
		}
	}
	server.AddResource(
		&mcp.Resource{URI: "test://static-text", Name: "text", Description: "A fixture.", MIMEType: "text/plain"},
		read(mcp.ResourceContents{MIMEType: "text/plain", Text: "the text"}),
	)
	server.AddResource(
		&mcp.Resource{URI: "test://static-binary", Name: "image", Description: "A fixture.", MIMEType: "image/png"},
		read(mcp.ResourceContents{MIMEType: "image/png", Blob: pixel}),
	)
	server.AddResource(
		&mcp.Resource{URI: "test://watched-resource", Name: "watched", Description: "A fixture.", MIMEType: "text/plain"},
		read(mcp.ResourceContents{MIMEType: "text/plain", Text: "the text"}),
	)
	server.AddResourceTemplate(
		&mcp.ResourceTemplate{
			URITemplate: "test://template/{id}/data", Name: "template", Description: "A fixture.",
			MIMEType: "text/plain",
		},
		read(mcp.ResourceContents{MIMEType: "text/plain", Text: "the data"}),
	)
	prompt := func(name string, arguments []string, content func(map[string]string) []mcp.Content) {
		p := &mcp.Prompt{Name: name, Description: "A fixture."}
		for _, a := range arguments {
			p.Arguments = append(p.Arguments, &mcp.PromptArgument{Name: a, Description: "A fixture's.", Required: true})
		}
		server.AddPrompt(p, func(_ context.Context, r *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
			result := &mcp.GetPromptResult{}
			for _, c := range content(r.Params.Arguments) {
				result.Messages = append(result.Messages, &mcp.PromptMessage{Role: "user", Content: c})
			}
			return result, nil
		})
	}
	prompt("test_simple_prompt", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{text("This is a simple prompt for testing.")}
	})
	prompt("test_prompt_with_arguments", []string{"arg1", "arg2"}, func(a map[string]string) []mcp.Content {
		return []mcp.Content{text(fmt.Sprintf("Prompt with arguments: arg1='%s', arg2='%s'", a["arg1"], a["arg2"]))}
	})
	prompt("test_prompt_with_embedded_resource", []string{"resourceUri"}, func(a map[string]string) []mcp.Content {
		return []mcp.Content{embedded(a["resourceUri"]), text("Please process the embedded resource above.")}
	})
	prompt("test_prompt_with_image", nil, func(map[string]string) []mcp.Content {
		return []mcp.Content{image, text("Please analyze the image above.")}
	})
}

// TestNPMClient: the client that agents are made with calls every tool, in ways that
// pass and in ways that do not; it holds each result to the tool's schema itself.
func TestNPMClient(t *testing.T) {
	w := newFixture(t)
	type call struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	var calls []call
	all := toolapi.NewContract().Tools()
	for _, tool := range all {
		for _, body := range w.examples(tool) {
			calls = append(calls, call{tool.Name, json.RawMessage(body)})
		}
	}
	stdin, err := json.Marshal(calls)
	if err != nil {
		t.Fatal(err)
	}
	stdout, stderr, err := node(t, string(stdin), "client.mjs", w.server.URL+toolapi.MCPPath, w.demo.Keys["member"])
	var got struct {
		Tools   []string
		Results []struct {
			StructuredContent map[string]any
			IsError           bool
		}
	}
	if err := errors.Join(err, json.Unmarshal([]byte(stdout), &got)); err != nil || len(got.Tools) != len(all) ||
		len(got.Results) != len(calls) {
		t.Fatalf("%v: %d tools, %d of %d results\n%s", err, len(got.Tools), len(got.Results), len(calls), stderr)
	}
	passed := map[string]bool{}
	for i, r := range got.Results {
		if ok, is := r.StructuredContent["ok"].(bool); !is || ok == r.IsError {
			t.Errorf("%s %s: %+v", calls[i].Name, calls[i].Arguments, r)
		} else if ok {
			passed[calls[i].Name] = true
		}
	}
	for _, tool := range all {
		switch tool.Name {
		// No publish is scheduled, no domain waits for its proof, and a service that runs no pages has neither restore points nor leads.
		case "page.unschedule", "domain.verify", "page.restore_points", "page.restore_data", "page.mark_lead":
			continue
		}
		if !passed[tool.Name] {
			t.Errorf("%s never passed", tool.Name)
		}
	}
}
