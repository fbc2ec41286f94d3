package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/spf13/cobra"
)

// noDocument lists the commands whose stdout --json does not change, with the reason.
var noDocument = map[string]string{
	"pages":                       "prints its help",
	"pages call":                  "prints the answer of the tool: pages tools describe has its schema",
	"pages completion bash":       "prints a script of the shell",
	"pages completion fish":       "prints a script of the shell",
	"pages completion powershell": "prints a script of the shell",
	"pages completion zsh":        "prints a script of the shell",
	"pages db dump":               "prints SQL",
	"pages db shell":              "prints the rows of each statement",
	"pages help":                  "prints a page of text",
	"pages man":                   "prints a manual",
	"pages mcp":                   "speaks MCP",
	"pages platform openapi":      "prints an OpenAPI document",
}

// TestDocuments: every command has a schema for its --json output, and the script json.txtar checks every command
// against it: a line `exec pages … --json` and one `document NAME`.
func TestDocuments(t *testing.T) {
	shown := shownDocuments(t)
	has := map[string]bool{}
	for _, d := range documents() {
		if _, err := d.schema(); err != nil {
			t.Errorf("%s: %v", d.name, err)
		}
		for _, command := range d.commands {
			has[commandOf(command)] = true
			if !slices.ContainsFunc(shown[d.name], func(line string) bool { return ofCommand(line, command) }) {
				t.Errorf("json.txtar does not show that %s prints the document %q", command, d.name)
			}
		}
		if len(shown[d.name]) == 0 {
			t.Errorf("json.txtar does not show the document %q", d.name)
		}
	}
	everyCommand(func(cmd *cobra.Command) {
		path := cmd.CommandPath()
		isHelp := cmd.HasSubCommands() && !has[path] // or one with subcommands
		switch _, exempt := noDocument[path]; {
		case isHelp:
		case exempt && has[path]:
			t.Errorf("%s: documents() has what it prints, and noDocument says that it has none", path)
		case !exempt && !has[path]:
			t.Errorf("%s: documents.go does not say what it prints with --json, and noDocument not why it needs none", path)
		}
	})
}

// shownDocuments are the command lines of json.txtar by the document that they print.
func shownDocuments(t *testing.T) map[string][]string {
	t.Helper()
	script, err := os.ReadFile("../../testdata/script/json.txtar")
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string][]string{}
	last, background := "", map[string]string{}
	for line := range strings.Lines(string(script)) {
		line = strings.TrimSpace(line)
		at := strings.Index(line, "exec pages ")
		command, operand, _ := strings.Cut(line, " ")
		switch {
		case at >= 0:
			last = line[at+len("exec "):]
			if words := strings.Fields(last); strings.HasPrefix(words[len(words)-1], "&") {
				background[strings.Trim(words[len(words)-1], "&")] = last
			}
		case command == "wait":
			last = background[operand]
		case command == "document":
			shown[operand] = append(shown[operand], last)
		}
	}
	return shown
}

// commandOf returns a command line without its flags.
func commandOf(line string) string {
	before, _, _ := strings.Cut(line, " --")
	return before
}

// ofCommand reports whether a line calls a command, with the flag that belongs to it.
func ofCommand(line, command string) bool {
	path := commandOf(command)
	flag := strings.TrimPrefix(command, path)
	return line == command || strings.HasPrefix(line, path+" ") && strings.Contains(line, flag)
}

// holdDocument is `document NAME`: it checks that the last stdout is a document of that name, or lines of it. $DOCUMENT_ID is its id.
func holdDocument(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: document NAME")
	}
	in := json.NewDecoder(strings.NewReader(ts.ReadFile("stdout")))
	n := 0
	for {
		var value any
		err := in.Decode(&value)
		if errors.Is(err, io.EOF) {
			break
		}
		ts.Check(err)
		if err := checkDocument(args[0], value); err != nil {
			text, _ := json.Marshal(value) // the output was JSON
			ts.Fatalf("%v\n%s", err, bytes.TrimSpace(text))
		}
		if object, ok := value.(map[string]any); ok {
			id, _ := object["id"].(string)
			if listed, _ := object["uploads"].([]any); len(listed) > 0 {
				first, _ := listed[0].(map[string]any)
				id, _ = first["upload_id"].(string)
			}
			ts.Setenv("DOCUMENT_ID", id)
		}
		n++
	}
	if n == 0 {
		ts.Fatalf("stdout has no document")
	}
}

// checkDocument checks a document against its schema.
func checkDocument(name string, value any) error {
	i := slices.IndexFunc(documents(), func(d document) bool { return d.name == name })
	if i < 0 {
		return errors.New("there is no document " + name)
	}
	s, err := documents()[i].schema()
	if err != nil {
		return err
	}
	resolved, err := s.Resolve(nil)
	if err != nil {
		return err
	}
	return resolved.Validate(value)
}
