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
		Short: "Bring back what the published site's database held",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if list && (o.Before != "" || o.At != "") {
				return failure.Usage("--list only shows the restore points; it goes without --before and --at")
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
	f.StringVar(&o.Before, "before", "", "bring back what was there before a `revision` went live, such as r2")
	f.StringVar(&o.At, "at", "", "bring back what was there at a `time`, so long ago (10m, 3h, 2d), or in a restore point (p12)")
	f.StringVar(&o.Into, "into", "live", "`place` of the data: live, or preview for a link that shows them and changes nothing")
	f.StringArrayVar(&tables, "tables", nil, "only these `tables`; code and schema stay")
	f.StringVar(&o.Leads, "leads", "keep", "keep or drop the rows of leads that came since, as `word`")
	f.BoolVar(&o.KeepCode, "keep-code", false, "keep what is live; its migrations run again on the data")
	return cmd
}
