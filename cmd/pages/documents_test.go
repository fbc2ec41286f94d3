package main

import (
	"encoding/json"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestDocuments: what commands print with --json is what their schemas say. The commands run one after the other on
// copies of the example sites; a name in brackets is replaced by the folder of a copy.
func TestDocuments(t *testing.T) {
	program, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	river, static, fresh := copyExample(t, "riverside"), copyExample(t, "static"), filepath.Join(t.TempDir(), "fresh")
	folders := strings.NewReplacer("[river]", river, "[static]", static, "[fresh]", fresh)
	run := map[string]bool{}
	for _, c := range []struct{ document, args string }{
		{"failure", "validate -C [fresh]"},
		{"init", "init --template full [fresh]"},
		{"init-editor", "init --editor zed [fresh]"},
		{"build", "build [river]"},
		{"build", "build [static] --target cloudflare"},
		{"validate", "validate [river]"},
		{"migrate-plan", "migrate plan -C [river]"},
		{"migrate-rehearse", "migrate rehearse -C [river]"},
		{"migrate", "migrate -C [river]"},
		{"migrate-status", "migrate status -C [river]"},
		{"migrate-file", "migrate new more -C [river]"},
		{"migrate-copies", "migrate undo --list -C [river]"},
		{"db-exec", "db exec -C [river] DELETE/**/FROM/**/notes"},
		{"doctor", "doctor [river]"},
		{"routes", "routes [river]"},
		{"routes-explain", "routes explain -C [river] /club"},
		{"types", "types [river]"},
		{"test", "test -C [static] -- true"},
		{"leads", "leads list [river]"},
		{"events", "events list [river]"},
		{"state-save", "state save one -C [river]"},
		{"state-list", "state list -C [river]"},
		{"state-save", "state load one -C [river]"},
		{"state-remove", "state remove one -C [river]"},
		{"state-seed", "state seed -C [fresh]"},
		{"state-reset", "state reset --yes -C [river]"},
		{"schema-list", "schema --list"},
		{"version", "version"},
	} {
		run[c.document] = true
		args := strings.Fields(folders.Replace(c.args))
		for i, arg := range args {
			args[i] = strings.ReplaceAll(arg, "/**/", " ")
		}
		args = append([]string{"--json"}, args...)
		out, _ := exec.Command(program, args...).Output() // what went wrong, stdout says
		var value any
		if err := json.Unmarshal(out, &value); err != nil {
			t.Errorf("%s: %v\n%s", c.args, err, out)
			continue
		}
		if err := checkDocument(c.document, value); err != nil {
			t.Errorf("%s: %v\n%s", c.args, err, out)
		}
	}
	// The service's have scripts of their own.
	elsewhere := map[string]bool{"lead": true, "login": true, "platform": true, "whoami": true}
	for _, d := range documents() {
		if !run[d.name] && !elsewhere[d.name] {
			t.Errorf("no command shows that the schema of %q is right", d.name)
		}
		if _, err := d.schema(); err != nil {
			t.Errorf("%s: %v", d.name, err)
		}
	}
}

// checkDocument holds a document to its schema.
func checkDocument(name string, value any) error {
	for _, d := range documents() {
		if d.name != name {
			continue
		}
		s, err := d.schema()
		if err != nil {
			return err
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			return err
		}
		return resolved.Validate(value)
	}
	return nil
}
