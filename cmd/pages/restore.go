package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/publish"
	"github.com/pages-toolchain/pages/toolapi"
)

func (c *cli) newRestore() *cobra.Command {
	r := c.newRemote()
	var o publish.RestoreOptions
	var list, proposeOnly bool
	var tables []string
	cmd := &cobra.Command{
		Use:   "restore [DIR]",
		Short: "Restore the published site's database from an earlier moment",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if list && (o.Before != "" || o.At != "") {
				return failure.Usage("--list only shows the restore points: leave out --before and --at")
			}
			if !list {
				var err error
				if cmd.Flags().Changed("tables") {
					o.Tables, err = publish.TableList(tables)
				}
				if err == nil {
					err = o.Check(c.term.Now())
				}
				if err != nil {
					return err
				}
			}
			s, err := r.openSite(cmd.Context(), args)
			if err != nil {
				return err
			}
			if !list {
				return r.proposer(s, proposeOnly).Restore(cmd.Context(), o)
			}
			points, err := publish.RestorePoints(cmd.Context(), s)
			err = printList(c, err, points, points.Points, func(p toolapi.RestorePoint) string {
				return publish.PointLine(p, shortTime(p.At))
			})
			if err == nil && !c.term.JSON {
				c.term.PrintNone(len(points.Points), "restore points")
				publish.PrintBound(&c.term, points)
			}
			return err
		},
	}
	r.addSite(cmd)
	addProposeOnly(cmd, &proposeOnly)
	f := cmd.Flags()
	f.BoolVar(&list, "list", false, "list the restore points, the newest first")
	f.StringVar(&o.Before, "before", "", "restore the data from before a `revision` went live, such as r2")
	f.StringVar(&o.At, "at", "", "restore the data of a `time`, such as 10m, 3h or 2d ago, or of a restore point (p12)")
	f.StringVar(&o.Into, "into", "live", "`place` for the data: live, or preview for a link that shows it and changes nothing")
	f.StringArrayVar(&tables, "tables", nil, "only these `tables`; code and schema stay")
	f.StringVar(&o.Leads, "leads", "keep", "`choice` for the rows of later leads: keep or drop")
	f.BoolVar(&o.KeepCode, "keep-code", false, "keep the live revision; its migrations run again on the data")
	return cmd
}
