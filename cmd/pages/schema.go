package main

import (
	"fmt"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/jsonshape"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
)

// manifestSchema is the default name of `pages schema`.
const manifestSchema = "manifest"

func (c *cli) newSchema() *cobra.Command {
	var list bool
	cmd := &cobra.Command{
		Use:               "schema [NAME]",
		Short:             "Print the JSON Schema of pages.deploy.json, or of a document of --json",
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: oneOf(documentNames),
		RunE: func(_ *cobra.Command, args []string) error {
			switch {
			case list && len(args) > 0:
				return failure.Usage("--list takes no name")
			case list:
				return c.listDocuments()
			case len(args) == 0 || args[0] == manifestSchema:
				_, err := c.term.Stdout.Write(manifest.Schema())
				return err
			}
			return c.printSchema(args[0])
		},
	}
	cmd.Flags().BoolVar(&list, "list", false, "list the documents that have a schema")
	return cmd
}

func documentNames() []string {
	names := []string{manifestSchema}
	for _, d := range documents() {
		names = append(names, d.name)
	}
	return names
}

func (c *cli) printSchema(name string) error {
	all := documents()
	i := slices.IndexFunc(all, func(d document) bool { return d.name == name })
	if i < 0 {
		err := failure.Usage("there is no document %q", name)
		err.Fix = "it is one of " + strings.Join(documentNames(), ", ")
		if near := wording.Nearest(name, documentNames()); near != "" {
			err.Fix = fmt.Sprintf("did you mean %q? pages schema --list names them all", "pages schema "+near)
		}
		return err
	}
	s, err := all[i].schema()
	if err != nil {
		return err
	}
	c.term.PrintJSON(s)
	return nil
}

// listedDocument is one line of `pages schema --list`.
type listedDocument struct {
	Name     string   `json:"name"`
	About    string   `json:"about"`
	Commands []string `json:"commands"` // that print it; empty if any command may
}

// documentsDoc is the output of `pages schema --list --json`.
type documentsDoc struct {
	Documents []listedDocument `json:"documents"`
}

func (c *cli) listDocuments() error {
	list := documentsDoc{Documents: []listedDocument{{manifestSchema, "the file " + manifest.FileName, []string{}}}}
	for _, d := range documents() {
		list.Documents = append(list.Documents, listedDocument{d.name, d.about, append([]string{}, d.commands...)})
	}
	if c.term.JSON {
		c.term.PrintJSON(list)
		return nil
	}
	table := tabwriter.NewWriter(c.term.Stdout, 0, 0, 2, ' ', 0)
	for _, d := range list.Documents {
		line := []string{d.Name, d.About}
		if len(d.Commands) > 0 {
			line = append(line, strings.Join(d.Commands, ", "))
		}
		fmt.Fprintln(table, strings.Join(line, "\t"))
	}
	return table.Flush()
}

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
		"ready":    jsonshape.Of[devsession.ReadyEvent],
		"build":    jsonshape.Of[devsession.BuildEvent],
		"error":    jsonshape.Of[devsession.ErrorEvent],
		"request":  jsonshape.Of[devsession.RequestEvent],
		"log":      jsonshape.Of[devsession.LogEvent],
		"delivery": jsonshape.Of[devsession.SiteEvent],
		"pairing":  jsonshape.Of[devsession.PairingEvent],
		"output":   jsonshape.Of[devsession.OutputEvent],
		"frontend": jsonshape.Of[devsession.FrontendEvent],
	})()
}
