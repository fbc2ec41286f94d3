package main

import (
	"encoding/json"
	"reflect"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
)

// document is what a command prints with --json.
type document struct {
	name     string // the command's, with dashes
	command  string // that prints it, as one would type it
	about    string
	contents reflect.Type
}

// documents are all that have a schema. A failing command prints "failure".
func documents() []document {
	return []document{
		{"failure", "any command", "why a command failed, and what to do", reflect.TypeFor[failureDoc]()},
		{"build", "pages build", "what was built", reflect.TypeFor[buildDoc]()},
		{"db-exec", "pages db exec", "what statements changed; also of db import", reflect.TypeFor[ranDoc]()},
		{"doctor", "pages doctor", "what was looked at, and found", reflect.TypeFor[doctorDoc]()},
		{"events", "pages events list", "events of leads, the newest first", reflect.TypeFor[site.EventList]()},
		{"init", "pages init --template", "what was written, and what is next", reflect.TypeFor[initDoc]()},
		{"init-editor", "pages init --editor", "what was written for editors", reflect.TypeFor[editorsDoc]()},
		{"lead", "pages leads show", "one lead with its events", reflect.TypeFor[leadDoc]()},
		{"leads", "pages leads list", "leads, the newest first", reflect.TypeFor[site.LeadList]()},
		{"login", "pages login", "where a key was kept; also of logout", reflect.TypeFor[loginDoc]()},
		{"migrate", "pages migrate", "what was applied", reflect.TypeFor[migrationDoc]()},
		{"migrate-file", "pages migrate new", "the file that was written; also of schema and squash", reflect.TypeFor[migrationFileDoc]()},
		{"migrate-plan", "pages migrate plan", "what would change", reflect.TypeFor[planDoc]()},
		{"migrate-rehearse", "pages migrate rehearse", "how it goes from nothing", reflect.TypeFor[rehearsalDoc]()},
		{"migrate-status", "pages migrate status", "the ledger beside the folder; also of undo", reflect.TypeFor[statusDoc]()},
		{"migrate-copies", "pages migrate undo --list", "copies to go back to", reflect.TypeFor[copiesDoc]()},
		{"platform", "pages platform", "the first line on stdout", reflect.TypeFor[readyLine]()},
		{"routes", "pages routes", "the routes, the most specific first", reflect.TypeFor[routesDoc]()},
		{"routes-explain", "pages routes explain", "what a request meets", reflect.TypeFor[explanationDoc]()},
		{"schema-list", "pages schema --list", "the documents that have a schema", reflect.TypeFor[documentsDoc]()},
		{"state-list", "pages state list", "the snapshots", reflect.TypeFor[snapshotsDoc]()},
		{"state-remove", "pages state remove", "the snapshot that was removed", reflect.TypeFor[removedDoc]()},
		{"state-reset", "pages state reset", "what was removed", reflect.TypeFor[resetDoc]()},
		{"state-save", "pages state save", "the snapshot; also of load", reflect.TypeFor[savedDoc]()},
		{"state-seed", "pages state seed", "what was run", reflect.TypeFor[seedDoc]()},
		{"test", "pages test", "how the command ended", reflect.TypeFor[testDoc]()},
		{"types", "pages types", "the file, and whether it was written", reflect.TypeFor[typesDoc]()},
		{"validate", "pages validate", "the diagnostics of a manifest", reflect.TypeFor[manifest.Report]()},
		{"version", "pages version", "the version", reflect.TypeFor[versionDoc]()},
		{"whoami", "pages whoami", "the key, the service and the workspace", reflect.TypeFor[whoDoc]()},
	}
}

// schema is the JSON Schema (draft 2020-12) of a document.
func (d document) schema() (*jsonschema.Schema, error) {
	s, err := jsonschema.ForType(d.contents, &jsonschema.ForOptions{TypeSchemas: map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[site.Stamp]():      {Type: "string", Format: "date-time"},
		reflect.TypeFor[site.Fields]():     {Type: "object"},
		reflect.TypeFor[json.RawMessage](): {},
	}})
	if err != nil {
		return nil, err
	}
	s.Schema, s.Title = "https://json-schema.org/draft/2020-12/schema", d.command+" --json"
	s.Description = d.about
	return s, nil
}
