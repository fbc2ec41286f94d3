package toolapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// OpenAPI returns the interface description: an OpenAPI 3.1.0 document, indented, with a
// line feed at its end. Equal contracts give equal bytes.
func (c *Contract) OpenAPI() ([]byte, error) {
	d := description{schemas: object{"ToolRefusal": schemaOf[ToolRefusal]()}, responses: object{}, paths: object{}}
	for _, t := range c.tools {
		d.schemas[t.Name+".arguments"], d.schemas[t.Name+".result"] = t.arguments(), t.result()
		d.paths[ToolsPath+t.Name] = object{"post": d.toolOperation(t)}
	}
	for _, e := range append(PagesEndpoints(), otherEndpoints()...) {
		methods, ok := d.paths[e.Path].(object)
		if !ok {
			methods = object{}
			d.paths[e.Path] = methods
		}
		methods[strings.ToLower(e.Method)] = d.endpointOperation(e)
	}
	document := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Workspace Tool-Call API", "version": Version,
			"description": "Every tool is one operation that runs inside one workspace. Branch on `ok` of the body: a " +
				"refusal of a tool is a 200 as well. " +
				"The API is in beta: a change is additive, or deprecated for at least 90 days first.",
		},
		"servers":  []any{object{"url": "/"}}, // relative to the address of the document
		"security": []any{object{"key": []any{}}},
		"paths":    d.paths,
		"components": object{
			"securitySchemes": object{"key": object{"type": "http", "scheme": "bearer"}},
			"schemas":         d.schemas,
			"headers":         headers(),
			"responses":       d.responses,
		},
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	err := enc.Encode(document)
	return text.Bytes(), err
}

type object = map[string]any

func reference(kind, name string) object { return object{"$ref": "#/components/" + kind + "/" + name} }

// description is a document under construction: an operation adds the components that it refers to.
type description struct{ schemas, responses, paths object }

// Headers of responses.
var (
	everyResponse = []string{"x-service-api", "x-request-id"}
	ratedResponse = []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"}
	deprecation   = []string{"Deprecation", "Sunset", "Link"}
)

func (d description) toolOperation(t *Tool) object {
	parameters := []any{requestIDParameter()}
	if t.Replays {
		parameters = append(parameters,
			keyParameter("A retry with the same key gets the first response. Required here, or in the body, which is deprecated."))
	}
	responses := object{"200": object{
		"description": "The call was admitted: the tool's result, or its refusal.",
		"headers":     headersOf(everyResponse, ratedResponse, deprecation, []string{"x-service-tool-error"}),
		"content": object{"application/json": object{"schema": object{"oneOf": []any{
			reference("schemas", t.Name+".result"), reference("schemas", "ToolRefusal"),
		}}}},
	}}
	d.addRefusals(responses, toolFamily, nil)
	return object{
		"operationId": t.Name, "summary": t.Title, "description": t.Description, "tags": []any{strings.SplitN(t.Name, ".", 2)[0]},
		"parameters": parameters, "responses": responses,
		"requestBody": object{
			"required": len(t.arguments().Required) > 0 || t.Replays,
			"content":  object{"application/json": object{"schema": reference("schemas", t.Name+".arguments")}},
		},
	}
}

func requestIDParameter() object {
	return object{
		"name": "x-request-id", "in": "header", "description": "Echoed, and stored with every audit row; a malformed id is replaced.",
		"schema": object{"type": "string"},
	}
}

func keyParameter(description string) object {
	return object{
		"name": "Idempotency-Key", "in": "header", "description": description,
		"schema": object{"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
	}
}

func (d description) endpointOperation(e Endpoint) object {
	parameters := []any{requestIDParameter()}
	if e.Keyed {
		parameters = append(parameters, keyParameter("A retry with the same key gets the first response."))
	}
	add := func(in string, p parameter) {
		parameters = append(parameters, object{
			"name": p.name, "in": in, "description": p.description, "required": p.required, "schema": p.schema,
		})
	}
	for part := range strings.SplitSeq(e.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			add("path", parameter{strings.TrimSuffix(name, "}"), "", true, &jsonschema.Schema{Type: "string"}})
		}
	}
	for _, p := range e.query {
		add("query", p)
	}
	for _, p := range e.headers {
		add("header", p)
	}
	operation := object{
		"operationId": e.Name, "summary": e.Title, "description": e.Description, "tags": []any{e.of.tag},
		"parameters": parameters,
	}
	if len(e.body) > 0 {
		operation["requestBody"] = object{"required": e.required, "content": d.contents(e.Name+".arguments", e.body...)}
	}
	if !e.of.keyed {
		operation["security"] = []any{}
	}
	responses := object{}
	for _, r := range e.results {
		answer := object{"description": r.description, "headers": headersOf(everyResponse, e.of.rated)}
		if r.content.kind != "" {
			answer["content"] = d.contents(e.Name+".result", r.content)
		}
		responses[strconv.Itoa(r.status)] = answer
	}
	d.addRefusals(responses, e.of, e.refuses)
	operation["responses"] = responses
	return operation
}

// contents returns bodies by their media type; the schema of JSON becomes a component.
func (d description) contents(name string, all ...content) object {
	kinds := object{}
	for _, c := range all {
		switch {
		case c.schema == nil:
			kinds[c.kind] = object{}
		case c.kind == "application/json":
			d.schemas[name] = c.schema
			kinds[c.kind] = object{"schema": reference("schemas", name)}
		default:
			kinds[c.kind] = object{"schema": c.schema}
		}
	}
	return kinds
}

// family is a group of endpoints with the same form of refusals.
type family struct {
	tag     string
	prefix  string // of the names of its refusals
	schema  string // of their bodies; "" for none
	keyed   bool   // needs a key
	always  []int  // statuses of refusals of each
	rated   []string
	headers []string // of every refusal
}

var (
	boundary = []int{
		http.StatusBadRequest, http.StatusUnauthorized, http.StatusForbidden, http.StatusTooManyRequests,
		http.StatusInternalServerError,
	}
	toolFamily = family{
		"", "", "Error", true,
		append([]int{http.StatusNotFound, http.StatusRequestEntityTooLarge, http.StatusServiceUnavailable}, boundary...),
		ratedResponse, deprecation,
	}
	mcpFamily     = family{"mcp", "MCP", "MCPRefusal", true, toolFamily.always, ratedResponse, nil}
	pagesFamily   = family{"pages", "Pages", "PagesError", true, boundary, ratedResponse, nil}
	importsFamily = family{"pages", "Import", "ImportError", true, boundary, ratedResponse, nil}
	headFamily    = family{"pages", "Head", "", true, boundary, ratedResponse, nil}
	openFamily    = family{"service", "Open", "Error", false, []int{http.StatusForbidden, http.StatusInternalServerError}, nil, deprecation}
)

// envelopes are the schemas of refusals, by name.
var envelopes = sync.OnceValue(func() map[string]*jsonschema.Schema {
	imports := schemaOf[PagesError]()
	inner := imports.Properties["error"].CloneSchemas()
	delete(inner.Properties, "retry_after_seconds") // section 7.3: imports have the header alone
	inner.PropertyOrder = nil
	imports.Properties["error"] = inner
	return map[string]*jsonschema.Schema{
		"Error": schemaOf[Error](), "PagesError": schemaOf[PagesError](), "ImportError": imports,
		"MCPRefusal": {OneOf: []*jsonschema.Schema{schemaOf[Error](), schemaOf[rpcAnswer]()}},
	}
})

// refusal is the component of one status.
type refusal struct {
	name, description string
	rated             bool // carries the rate headers
}

var refusalTable = map[int]refusal{
	http.StatusBadRequest: {"BadRequest", "The request is malformed; nothing ran.", true},
	http.StatusUnauthorized: {
		"Unauthorized",
		"No key, or an invalid one: absent, unknown, revoked and expired keys get the same response.", false,
	},
	http.StatusForbidden:             {"Forbidden", "The key is valid, but may not do this; code says why.", false},
	http.StatusNotFound:              {"NotFound", "Not found.", true},
	http.StatusRequestTimeout:        {"Timeout", "The body arrived too slowly; nothing was stored.", true},
	http.StatusConflict:              {"Conflict", "The current state does not allow it; code says why.", true},
	http.StatusGone:                  {"Gone", "The upload was not used for too long.", true},
	http.StatusLengthRequired:        {"LengthRequired", "The body must be sent with its Content-Length.", true},
	http.StatusRequestEntityTooLarge: {"TooLarge", "The body is too long; nothing ran.", true},
	http.StatusUnsupportedMediaType:  {"MediaType", "The type or the encoding of the body is not supported.", true},
	http.StatusUnprocessableEntity:   {"Unfit", "The content breaks a rule; code says which.", true},
	http.StatusTooManyRequests:       {"RateLimited", "The key has used up its calls of the last minute.", true},
	http.StatusInternalServerError: {"Failed", "The service failed; nothing changed. It may have failed before it authenticated the " +
		"caller.", false},
	http.StatusServiceUnavailable: {"Unavailable", "The service is unavailable at the moment; it may not have authenticated the " +
		"caller.", false},
	http.StatusInsufficientStorage: {"StorageFull", "The service's disk is full; nothing was stored.", true},
}

// addRefusals adds the refusals of a family, and more statuses, to the responses of an operation.
func (d description) addRefusals(responses object, of family, more []int) {
	for _, status := range slices.Concat(of.always, more) {
		r := refusalTable[status]
		responses[strconv.Itoa(status)] = reference("responses", of.prefix+r.name)
		names := slices.Concat(everyResponse, of.headers)
		if r.rated {
			names = append(names, of.rated...)
		}
		switch status {
		case http.StatusTooManyRequests:
			names = append(names, "Retry-After")
		case http.StatusUnauthorized:
			names = append(names, "WWW-Authenticate")
		}
		answer := object{"description": r.description, "headers": headersOf(names)}
		if of.schema != "" {
			d.schemas[of.schema] = envelopes()[of.schema]
			answer["content"] = object{"application/json": object{"schema": reference("schemas", of.schema)}}
		}
		d.responses[of.prefix+r.name] = answer
	}
}

func headersOf(names ...[]string) object {
	all := object{}
	for _, name := range slices.Concat(names...) {
		all[name] = reference("headers", name)
	}
	return all
}

func headers() object {
	text := func(required bool, description string, s *jsonschema.Schema) object {
		return object{"required": required, "description": description, "schema": s}
	}
	plain := &jsonschema.Schema{Type: "string"}
	least := func(n float64) *jsonschema.Schema { return &jsonschema.Schema{Type: "integer", Minimum: &n} }
	stage := any(Stage)
	return object{
		"x-service-api": text(true, "The stage of the API.", &jsonschema.Schema{Type: "string", Const: &stage}),
		"x-request-id":  text(true, "The id of the request, or a generated one.", plain),
		"x-service-tool-error": text(
			false, "On a refusal: true when the workspace could not be resolved, false when the tool itself refused.",
			&jsonschema.Schema{Type: "string", Enum: []any{"true", "false"}},
		),
		"RateLimit-Limit":     text(true, "Calls a minute.", least(1)),
		"RateLimit-Remaining": text(true, "Calls left.", least(0)),
		"RateLimit-Reset":     text(true, "Seconds until another call is available.", least(1)),
		"Retry-After":         text(true, "Seconds to wait.", least(1)),
		"Deprecation":         text(false, "The time since which the used feature is deprecated (RFC 9745).", plain),
		"Sunset":              text(false, "The earliest time of its removal (RFC 8594).", plain),
		"Link":                text(false, "The page that names the replacement.", plain),
		"WWW-Authenticate":    text(true, "Bearer.", plain),
	}
}
