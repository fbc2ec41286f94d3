package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/toolapi"
)

func (c *cli) newPlatformOpenAPI() *cobra.Command {
	return &cobra.Command{
		Use:     "openapi",
		Short:   "Print the OpenAPI 3.1 document of the tool API",
		Long:    "Print the OpenAPI 3.1 document of the tool API, the one that the service answers at\n" + toolapi.OpenAPIPath + ".\n\nExit codes: 0 done, 2 wrong usage.",
		Example: "  pages platform openapi > openapi.json",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			document, err := toolapi.NewContract().OpenAPI()
			if err != nil {
				return err
			}
			_, err = c.term.Stdout.Write(document)
			return err
		},
	}
}
