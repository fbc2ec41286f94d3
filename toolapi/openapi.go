package toolapi

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// OpenAPI is the interface description: an OpenAPI 3.1.0 document, indented, with a
// line feed at its end. Equal contracts give equal bytes.
func (c *Contract) OpenAPI() ([]byte, error) {
	schemas := map[string]any{"Error": schemaOf[Error](), "ToolRefusal": schemaOf[ToolRefusal]()}
	paths := map[string]any{}
	for _, t := range c.tools {
		schemas[t.Name+".arguments"], schemas[t.Name+".result"] = t.arguments, t.result
		paths[ToolsPath+t.Name] = object{"post": t.operation()}
	}
	document := object{
		"openapi": "3.1.0",
		"info": object{
			"title": "Workspace Tool-Call API", "version": Version,
			"description": "Every tool is one operation that runs inside one workspace. Branch on `ok` of the body: a tool that refuses answers 200 as well. " +
				"The API is in beta: a change is additive, or deprecated for at least 90 days first.",
		},
		"security": []any{object{"key": []any{}}},
		"paths":    paths,
		"components": object{
			"securitySchemes": object{"key": object{"type": "http", "scheme": "bearer"}},
			"schemas":         schemas,
			"headers":         headers(),
			"responses":       refusals(),
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

func (t *Tool) operation() object {
	parameters := []any{object{
		"name": "x-request-id", "in": "header", "description": "Echoed, and kept with every audit row; anything malformed is replaced.",
		"schema": object{"type": "string"},
	}}
	if t.Replays {
		parameters = append(parameters, object{
			"name": "Idempotency-Key", "in": "header", "description": "A retry with the same key gets the first answer. Needed here, or in the body, which is deprecated.",
			"schema": object{"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
		})
	}
	responses := object{"200": object{
		"description": "The call was admitted: the tool's result, or its refusal.",
		"headers":     headersOf("x-service-api", "x-request-id", "x-service-tool-error", "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset", "Deprecation", "Sunset", "Link"),
		"content": object{"application/json": object{"schema": object{"oneOf": []any{
			reference("schemas", t.Name+".result"), reference("schemas", "ToolRefusal"),
		}}}},
	}}
	for _, r := range refusalTable() {
		responses[strconv.Itoa(r.status)] = reference("responses", r.name)
	}
	return object{
		"operationId": t.Name, "summary": t.Title, "description": t.Description, "tags": []any{strings.SplitN(t.Name, ".", 2)[0]},
		"parameters": parameters, "responses": responses,
		"requestBody": object{
			"required": !t.BodyOptional(),
			"content":  object{"application/json": object{"schema": reference("schemas", t.Name+".arguments")}},
		},
	}
}

// refusal is one status of the boundary.
type refusal struct {
	status      int
	name        string
	description string
	rated       bool // carries the rate headers
}

func refusalTable() []refusal {
	return []refusal{
		{http.StatusBadRequest, "BadRequest", "The request is malformed; nothing ran.", true},
		{http.StatusUnauthorized, "Unauthorized", "No key, or one that does not resolve: absent, unknown, revoked and expired keys get the same answer.", false},
		{http.StatusForbidden, "Forbidden", "The key is good and the API is closed to it; code says why.", false},
		{http.StatusNotFound, "NotFound", "There is no such tool.", true},
		{http.StatusRequestEntityTooLarge, "TooLarge", "The body is too long; nothing ran.", true},
		{http.StatusTooManyRequests, "RateLimited", "The key has used up its calls of the last minute.", true},
		{http.StatusInternalServerError, "Failed", "The service failed; nothing took effect.", true},
	}
}

func refusals() object {
	all := object{}
	for _, r := range refusalTable() {
		names := []string{"x-service-api", "x-request-id", "Deprecation", "Sunset", "Link"}
		if r.rated {
			names = append(names, "RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset")
		}
		if r.status == http.StatusTooManyRequests {
			names = append(names, "Retry-After")
		}
		if r.status == http.StatusUnauthorized {
			names = append(names, "WWW-Authenticate")
		}
		all[r.name] = object{
			"description": r.description, "headers": headersOf(names...),
			"content": object{"application/json": object{"schema": reference("schemas", "Error")}},
		}
	}
	return all
}

func headersOf(names ...string) object {
	all := object{}
	for _, name := range names {
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
		"x-service-api":        text(true, "The stage of the API.", &jsonschema.Schema{Type: "string", Const: &stage}),
		"x-request-id":         text(true, "The id that was sent, or a generated one.", plain),
		"x-service-tool-error": text(false, "On a refusal: true when the workspace could not be resolved, false when the tool itself refused.", &jsonschema.Schema{Type: "string", Enum: []any{"true", "false"}}),
		"RateLimit-Limit":      text(true, "Calls a minute.", least(1)),
		"RateLimit-Remaining":  text(true, "Calls left.", least(0)),
		"RateLimit-Reset":      text(true, "Seconds until a call is freed.", least(1)),
		"Retry-After":          text(true, "Seconds to wait.", least(1)),
		"Deprecation":          text(false, "Since when what was used is deprecated (RFC 9745).", plain),
		"Sunset":               text(false, "Until when it is kept at least (RFC 8594).", plain),
		"Link":                 text(false, "Where to read what to use instead.", plain),
		"WWW-Authenticate":     text(true, "Bearer.", plain),
	}
}
