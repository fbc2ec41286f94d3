package main

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/doctor"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

func (c *cli) newDoctor() *cobra.Command {
	var o doctor.Options
	cmd := &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "Look for problems that keep a site from running",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Data != "" && !o.Verify {
				return failure.Usage("--data needs --verify")
			}
			if dir, err := c.sites().Find(args); err == nil {
				o.Dir = dir
			} else if len(args) > 0 || c.siteDir != "" {
				return err
			}
			o.Term, o.Sites, o.States, o.Tool, o.Version = &c.term, c.sites(), c.states(), tool(), version
			o.EngineCache, o.Port, o.Workerd = c.compileCache(), defaultPort, c.places(cmp.Or(o.Dir, c.term.Path(".")))
			r := c.newRemote()
			r.given.BaseURL, _ = c.term.Lookup("PAGES_BASE_URL")
			r.given.KeyFile, _ = c.term.Lookup("PAGES_API_KEY_FILE")
			r.given.Workspace, _ = c.term.Lookup("PAGES_WORKSPACE")
			o.Remote = r.options(o.Dir)
			return doctor.Run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.Repair, "fix", false, "make repairs that cannot lose data")
	flags.BoolVar(&o.Verify, "verify", false, "read every file that was uploaded to a service on this machine")
	flags.StringVar(&o.Data, "data", "", "`folder` of that service's data (default: .pages/platform)")
	return cmd
}
