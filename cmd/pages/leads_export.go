package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/inbox"
	"github.com/pages-toolchain/pages/devserver/site"
)

func (c *cli) newLeadsExport() *cobra.Command {
	var filter site.LeadFilter
	var raw bool
	cmd := &cobra.Command{
		Use:   "export csv|json [DIR]",
		Short: "Write all leads to stdout, oldest first",
		Long: "Write all leads to stdout, oldest first, as CSV with a column for each field that\nany of them has, or as the document of leads list --json.\n\n" +
			"What visitors wrote is not to be trusted: in CSV, what a spreadsheet would take\nfor a formula (= + - or @ at the start of a value, of a line, or behind ; | or a tab)\ngets a ' in front, unless --raw is said." + listHelp,
		Example: "  pages leads export csv > leads.csv\n  pages leads export csv --form join --raw\n  pages leads export json | jq .leads",
		Args:    cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			if args[0] != "csv" && args[0] != "json" {
				return failure.Usage("leads are exported as csv or json, and not as %q", args[0])
			}
			if c.term.JSON && args[0] == "csv" {
				return failure.Usage("--json and csv ask for two things")
			}
			if raw && args[0] != "csv" {
				return failure.Usage("--raw is for csv")
			}
			in, err := c.openInbox(args[1:])
			if err != nil {
				return err
			}
			leads, err := in.Leads(cmd.Context(), filter)
			if err != nil {
				return err
			}
			slices.Reverse(leads)
			c.term.PrintNoneMatching(len(leads), "leads", filter.Form != "")
			if args[0] == "json" {
				c.term.PrintJSON(site.LeadList{Leads: leads})
				return nil
			}
			return c.term.WriteRaw(func(w io.Writer) error { return inbox.WriteCSV(w, leads, raw) })
		},
	}
	cmd.Flags().StringVar(&filter.Form, "form", "", "only leads of this form, by `name`")
	cmd.Flags().BoolVar(&raw, "raw", false, "values in CSV as they came, also those that look like formulas")
	return cmd
}
