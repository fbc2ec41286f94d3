package main

import (
	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/doctor"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

func (c *cli) newDoctor() *cobra.Command {
	var o doctor.Options
	cmd := &cobra.Command{
		Use:   "doctor [DIR]",
		Short: "Look for what keeps a site from running on this machine",
		Long: "Look for what keeps a site from running on this machine: the engine and its cache,\nthe manifest, packages, the port, the state folder with its databases, migrations\nand objects, watching, secrets, and the service. Outside of a site the machine\nalone is looked at. Each finding says what to do about it.\n\n" +
			"Nothing is changed without --fix, which does what cannot lose anything: it removes\nwhat killed processes left behind and a damaged cache, completes .gitignore, and\nwrites the types anew.\n\n" +
			"With --verify every file that was uploaded to the service whose data is in the folder\n--data is read and compared with its SHA-256, also while the service runs; --fix sets\naside those that are not what was uploaded.\n\n" +
			"Exit codes: 0 nothing is broken (warnings may be told), 1 something is, 2 wrong\nusage.",
		Example: "  pages doctor\n  pages doctor --fix\n  pages doctor sites/club --json\n  pages doctor --verify --data /srv/pages",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.Data != "" && !o.Verify {
				return failure.Usage("--data belongs to --verify")
			}
			if dir, err := c.sites().Find(args); err == nil {
				o.Dir = dir
			} else if len(args) > 0 || c.siteDir != "" {
				return err
			}
			o.Term, o.Sites, o.States, o.Tool, o.Version = &c.term, c.sites(), c.states(), tool(), version
			o.EngineCache, o.Port = c.compileCache(), defaultPort
			r := c.newRemote()
			r.given.BaseURL, _ = c.term.Lookup("PAGES_BASE_URL")
			r.given.KeyFile, _ = c.term.Lookup("PAGES_API_KEY_FILE")
			r.given.Workspace, _ = c.term.Lookup("PAGES_WORKSPACE")
			o.Remote = r.options(o.Dir)
			return doctor.Run(cmd.Context(), o)
		},
	}
	flags := cmd.Flags()
	flags.BoolVar(&o.Repair, "fix", false, "mend what can be mended without losing anything")
	flags.BoolVar(&o.Verify, "verify", false, "read every file that was uploaded to a service on this machine")
	flags.StringVar(&o.Data, "data", "", "`folder` of that service's data (default: .pages/platform)")
	return cmd
}
