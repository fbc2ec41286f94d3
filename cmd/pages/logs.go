package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/inbox"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/devserver"
)

// logsFlags are the flags of `pages logs`.
type logsFlags struct {
	since, status, member string
	follow                bool
	filter                devserver.LogFilter
}

func (c *cli) newLogs() *cobra.Command {
	f := &logsFlags{}
	cmd := &cobra.Command{
		Use:   "logs [DIR]",
		Short: "Search what requests of the dev server left behind",
		Long: "Search what requests of the dev server left behind: how each was answered, what it\ncost, why it failed, and what was logged for it.\n\n" +
			"It reads the state folder, whether pages dev runs or not. The log keeps the last\n50,000 requests and lines, and at most 64 MiB of them; never bodies or headers.\n" +
			"People get the oldest first. --json prints {\"requests\":[…],\"logs\":[…]}, newest\nfirst: each request with its lines as \"logs\", and the lines of no request. With\n" +
			"--follow each entry is a line of JSON of its own, of the type \"request\" or \"log\".\n\nExit codes: 0 done, also by Ctrl-C with --follow, 1 there is no site, 2 wrong usage,\n9 the log cannot be read.",
		Example: "  pages logs --since 10m --status 5xx\n  pages logs --path '/api/*' --level warn --json\n  pages logs -f --grep timeout\n  pages logs --request req_4kx2",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c.term.Lines = f.follow
			if err := f.check(c.term.Now()); err != nil {
				return err
			}
			err := c.logs(cmd.Context(), args, f)
			if !f.follow {
				return err
			}
			return untilInterrupt(cmd.Context(), err)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "not older than a `time`: 90s, 10m, 2h, 3d, or a moment as 2026-05-06T07:08:09Z")
	flags.StringVar(&f.status, "status", "", "only this `status`: 404, 5xx, 400-499, or several with commas")
	flags.StringVar(&f.filter.Route, "route", "", "only requests that matched this `pattern` of the manifest")
	flags.StringVar(&f.filter.Path, "path", "", "only paths like this `glob`: * is anything, ? one character")
	flags.StringVar(&f.filter.Method, "method", "", "only this `method`")
	flags.StringVar(&f.filter.Level, "level", "", "only what was logged at this `level` or a more severe one ("+strings.Join(devserver.LogLevels(), ", ")+"); a failure is an error")
	flags.StringVar(&f.filter.Text, "grep", "", "only where path, error or a line has this `text`; case does not count")
	flags.StringVar(&f.filter.Request, "request", "", "only the request whose id begins with `ID`")
	flags.StringVar(&f.member, "member", "", "only requests of this signed-in member: an email or a `persona`")
	flags.IntVar(&f.filter.Limit, "limit", 100, "at most the newest `n`; 0 for all")
	flags.BoolVarP(&f.follow, "follow", "f", false, "go on with what comes, until Ctrl-C")
	return cmd
}

// logs prints the entries that the filter chooses.
func (c *cli) logs(ctx context.Context, args []string, f *logsFlags) error {
	dir, err := c.sites().Find(args)
	if err != nil {
		return err
	}
	if named, ok := project.PersonaOf(dir, f.member); ok {
		f.filter.Member = named.Email
	}
	in, err := c.openInbox(args)
	if err != nil {
		return err
	}
	if f.follow {
		return in.FollowLog(ctx, f.filter, c.tellEntry)
	}
	entries, err := in.Log(ctx, f.filter)
	if err != nil || ctx.Err() != nil {
		return err
	}
	if c.term.JSON {
		c.term.PrintJSON(devserver.History(entries))
		return nil
	}
	for _, e := range entries {
		c.tellEntry(e)
	}
	if len(entries) == 0 {
		c.term.Progress("nothing in the log that fits")
	}
	return nil
}

// tellEntry prints an entry of the log.
func (c *cli) tellEntry(e devserver.LogEntry) {
	switch {
	case !c.term.JSON:
		inbox.WriteEntry(c.term.Stdout, e, c.term.Colored(c.term.Stdout))
	case e.Request != nil:
		c.term.PrintJSONLine(typedLoggedRequest{"request", *e.Request})
	default:
		c.term.PrintJSONLine(devsession.LogEvent{Type: "log", LogLine: *e.Line})
	}
}

// typedLoggedRequest is a request among the lines of --json.
type typedLoggedRequest struct {
	Type string `json:"type"`
	devserver.LoggedRequest
}
