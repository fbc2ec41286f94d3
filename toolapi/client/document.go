package client

import (
	"cmp"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file reads tools out of an OpenAPI document.

type document struct {
	OpenAPI string `json:"openapi"`
	Paths   map[string]struct {
		Post *operation `json:"post"`
	} `json:"paths"`
	Components struct {
		Schemas map[string]json.RawMessage `json:"schemas"`
	} `json:"components"`
}

type operation struct {
	Summary     string `json:"summary"`
	Description string `json:"description"`
	Parameters  []struct {
		Name string `json:"name"`
		In   string `json:"in"`
	} `json:"parameters"`
	RequestBody struct {
		Content map[string]media `json:"content"`
	} `json:"requestBody"`
	Responses map[string]struct {
		Content map[string]media `json:"content"`
	} `json:"responses"`
}

type media struct {
	Schema json.RawMessage `json:"schema"`
}

var errNoTools, errNoJSON = errors.New("it lists no tools"), errors.New("it is no JSON")

func parseTools(text []byte) ([]ToolInfo, error) {
	var d document
	if !json.Valid(text) {
		return nil, errNoJSON
	}
	if json.Unmarshal(text, &d) != nil { // which would name types of ours
		return nil, errNoTools
	}
	tools := []ToolInfo{}
	for path, item := range d.Paths {
		name, ok := toolOf(path)
		if !ok || item.Post == nil {
			continue
		}
		t := ToolInfo{Name: name, Title: item.Post.Summary, Description: item.Post.Description}
		for _, p := range item.Post.Parameters {
			t.Replays = t.Replays || p.In == "header" && strings.EqualFold(p.Name, toolapi.HeaderIdempotencyKey)
		}
		t.Arguments = d.resolve(item.Post.RequestBody.Content["application/json"].Schema)
		t.Result = d.success(item.Post.Responses["200"].Content["application/json"].Schema)
		t.TwoCalls = takesConfirmation(t.Arguments)
		tools = append(tools, t)
	}
	if len(tools) == 0 {
		return nil, errNoTools
	}
	slices.SortFunc(tools, func(a, b ToolInfo) int { return cmp.Compare(a.Name, b.Name) })
	return tools, nil
}

// resolve follows a reference to a schema of the document.
func (d *document) resolve(schema json.RawMessage) json.RawMessage {
	var s struct {
		Ref string `json:"$ref"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return schema
	}
	if name, ok := strings.CutPrefix(s.Ref, "#/components/schemas/"); ok {
		return d.Components.Schemas[name]
	}
	return schema
}

// success is the part of a response that is no refusal.
func (d *document) success(schema json.RawMessage) json.RawMessage {
	var s struct {
		OneOf []json.RawMessage `json:"oneOf"`
	}
	if json.Unmarshal(schema, &s) != nil || len(s.OneOf) == 0 {
		return d.resolve(schema)
	}
	return d.resolve(s.OneOf[0])
}
