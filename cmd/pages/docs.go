package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/docsearch"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/manual"
)

func (c *cli) newDocs() *cobra.Command {
	var limit int
	cmd := &cobra.Command{
		Use:   "docs QUESTION…",
		Short: "Search all pages of help",
		Args:  cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			question := strings.TrimSpace(strings.Join(args, " "))
			switch {
			case question == "":
				return failure.Usage("the question is empty")
			case limit < 1:
				return failure.Usage("--limit is %d; it must be 1 or more", limit)
			}
			answer, err := docsearch.Search(cmd.Context(), manual.DocPages(cmd.Root()), question, limit)
			if err != nil {
				return err
			}
			c.printAnswer(answer)
			return nil
		},
	}
	const most = 5
	cmd.Flags().IntVar(&limit, "limit", most, "at most `n` pages")
	return cmd
}

// printAnswer prints the pages on stdout, and remarks about the words of the question on stderr.
func (c *cli) printAnswer(a docsearch.Answer) {
	if c.term.JSON {
		c.term.PrintJSON(a)
		return
	}
	for _, corrected := range a.Corrected {
		c.term.Progress("no page has %q; this searched for %q", corrected.Word, corrected.Used)
	}
	for _, unknown := range a.Unknown {
		line := fmt.Sprintf("no page has %q", unknown.Word)
		if unknown.Near != "" {
			line += fmt.Sprintf("; the nearest word is %q", unknown.Near)
		}
		c.term.Progress("%s", line)
	}
	for i, r := range a.Results {
		if i > 0 {
			fmt.Fprintln(c.term.Stdout)
		}
		fmt.Fprintf(c.term.Stdout, "%s: %s\n", c.term.PaintFor(c.term.Stdout, "1", r.Title), r.About)
		for line := range strings.Lines(r.Passage) {
			fmt.Fprintln(c.term.Stdout, strings.TrimRight("    "+line, " \n"))
		}
		fmt.Fprintf(c.term.Stdout, "  %s\n", r.Command)
	}
	if len(a.Results) == 0 {
		c.term.Progress("no page of help answers this; `pages help` lists all commands and topics")
	}
}
