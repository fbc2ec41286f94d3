package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/manifest"
)

func (c *cli) newSchema() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON Schema of pages.deploy.json",
		Long: "Print the JSON Schema (draft-07) of pages.deploy.json, for editors.\n\n" +
			"The manifest itself may not name it: no further property is allowed there.\nEditors map a schema to a file name instead, VS Code with \"json.schemas\".\n\nExit codes: 0 printed, 2 wrong usage.",
		Example: "  pages schema > .vscode/pages.schema.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := c.stdout.Write(manifest.Schema())
			return err
		},
	}
}
