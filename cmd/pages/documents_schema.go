package main

import (
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/jsonshape"
)

// schema is the JSON Schema (draft 2020-12) of a document.
func (d document) schema() (*jsonschema.Schema, error) {
	s, err := d.shape()
	if err != nil {
		return nil, err
	}
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", "any command --json"
	if len(d.commands) > 0 {
		s.Title = d.commands[0] + " --json"
	}
	s.Description = d.about
	return s, nil
}

// devLines is the schema of the lines of `pages dev --json`.
func devLines() (*jsonschema.Schema, error) {
	return jsonshape.Lines(map[string]jsonshape.Shape{
		"ready": jsonshape.Of[devsession.ReadyEvent], "build": jsonshape.Of[devsession.BuildEvent], "error": jsonshape.Of[devsession.ErrorEvent],
		"request": jsonshape.Of[devsession.RequestEvent], "log": jsonshape.Of[devsession.LogEvent], "delivery": jsonshape.Of[devsession.SiteEvent],
		"pairing": jsonshape.Of[devsession.PairingEvent],
	})()
}
