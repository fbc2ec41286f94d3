package main

import (
	"fmt"
	"text/tabwriter"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/snapshot"
)

func (c *cli) newStateList() *cobra.Command {
	return &cobra.Command{
		Use:     "list [DIR]",
		Short:   "List the snapshots",
		Long:    "List the snapshots by name, with when they were saved and how large they are.\n\nExit codes: 0 listed, 1 there is no site, 2 wrong usage, 9 the state folder cannot\nbe used.",
		Example: "  pages state list\n  pages state list --json",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := c.siteArgument(args); err != nil {
				return err
			}
			return c.withSnapshots(cmd.Context(), func(_ *localstate.State, store *snapshot.Store) error {
				list, err := store.List()
				if err != nil {
					return err
				}
				return c.printSnapshots(list)
			})
		},
	}
}

// snapshotsDoc is what `pages state list --json` prints.
type snapshotsDoc struct {
	OK        bool          `json:"ok"`
	Snapshots []snapshotDoc `json:"snapshots"`
}

func (c *cli) printSnapshots(list []snapshot.Info) error {
	if c.term.JSON {
		docs := []snapshotDoc{}
		for _, i := range list {
			docs = append(docs, docOf(i))
		}
		c.term.PrintJSON(snapshotsDoc{true, docs})
		return nil
	}
	table := tabwriter.NewWriter(c.term.Stdout, 0, 0, 2, ' ', 0)
	for _, i := range list {
		if i.Damage != "" {
			fmt.Fprintf(table, "%s\t%s\n", i.Name, i.Damage)
			continue
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", i.Name, wording.Clock(i.CreatedAt), wording.Count(len(i.Files), "file"), wording.Size(i.Bytes()))
	}
	c.term.PrintNone(len(list), "snapshots")
	return table.Flush()
}
