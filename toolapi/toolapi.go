// Package toolapi is the contract of the Workspace tool API (platform document,
// sections 1 to 9), in Go: the arguments and the result of every tool, the
// envelopes of refusals with their codes and statuses, the headers, and the
// OpenAPI document.
//
// A tool is defined once, by a pair of Go types (NewContract). From the pair come its JSON Schemas,
// the check of its arguments (Object.Check lists every issue, not the first) and its part of the
// OpenAPI document. Client and service share the definition.
//
// Input: request bodies. Output: checked Go values, or issues with the path of the argument to
// blame. ParseObject is strict: one JSON object by RFC 7493 (I-JSON), with unique names and valid
// Unicode.
//
// The package has no server, client, or state, and is safe for concurrent use. assumptions.go lists
// the points that the document leaves open.
//
// A new tool is the types of its arguments and result and a define here, its code in package
// service with a line in bind there, and go test ./toolapi -update. REST endpoint, MCP tool and
// description are derived from that.
package toolapi

const (
	// Version is the label of the interface description (platform document, section 9).
	Version = "1.0.0-beta"
	// Stage is the value of HeaderAPI while the API is in beta.
	Stage = "beta"

	// ToolsPath is the path prefix of all tools: POST ToolsPath + name.
	ToolsPath = "/api/v1/tools/"
	// OpenAPIPath serves the interface description.
	OpenAPIPath = "/api/v1/openapi.json"
	// DeprecationsPath serves a page with the replacements of deprecated features.
	DeprecationsPath = "/api/v1/deprecations"
	// HealthPath serves the health of the service.
	HealthPath = "/healthz"
	// MetricsPath serves counts, in the text format of Prometheus.
	MetricsPath = "/metrics"
)

// Success is the start of every result of a tool (platform document, sections 1 and 2.2). The service
// fills it in.
type Success struct {
	OK        True      `json:"ok"`
	Workspace string    `json:"workspace" jsonschema:"slug of the workspace the tool ran in"`
	WorkingIn WorkingIn `json:"working_in" jsonschema:"the workspace the tool ran in, and why that one"`
}

// Fill sets the common part of all results.
func (s *Success) Fill(w WorkingIn) { s.OK, s.Workspace, s.WorkingIn = true, w.Workspace, w }

// WorkingIn names the workspace a tool ran in and the rule that resolved it
// (platform document, section 2.2).
type WorkingIn struct {
	Label     string `json:"label" jsonschema:"short words naming the workspace"`
	Note      string `json:"note" jsonschema:"why this workspace was used"`
	Workspace string `json:"workspace" jsonschema:"slug of the workspace"`
	Source    Source `json:"source" jsonschema:"the rule that resolved the workspace"`
}

// Source is the rule that resolved the workspace of a call.
type Source string

// The rules, in the order of precedence.
const (
	CallOverride  Source = "call-override"
	KeyPin        Source = "key-pin"
	StoredDefault Source = "stored-default"
	SoleReachable Source = "sole-reachable"
)

// Scope is the argument that every tool takes.
type Scope struct {
	Workspace Slug `json:"workspace,omitempty" jsonschema:"slug of the workspace to run in; the default one when omitted"`
}
