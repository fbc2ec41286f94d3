package main

import (
	"context"
	"errors"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/inbox"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/sqlshell"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/runtime/trace"
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
		Short: "Search the log of the dev server",
		Args:  cobra.MaximumNArgs(1),
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
	flags.StringVar(&f.filter.Level, "level", "", "only lines of this `level` or a more severe one ("+
		strings.Join(devserver.LogLevels(), ", ")+"); a failure is an error")
	flags.StringVar(&f.filter.Text, "grep", "", "only where path, error or a line has this `text`, in any case")
	flags.StringVar(&f.filter.Request, "request", "", "only the request whose id begins with `ID`")
	flags.StringVar(&f.filter.Trace, "trace", "",
		"only the trace, or the request whose id begins with `ID`: with its steps as a waterfall")
	flags.DurationVar(&f.filter.Slow, "slow", 0, "only requests that took this `time` or longer: 200ms, 1.5s")
	flags.StringVar(&f.member, "member", "", "only requests of this signed-in member: an email or a `persona`")
	flags.IntVar(&f.filter.Limit, "limit", 100, "at most the newest `n`; 0 for all")
	flags.BoolVarP(&f.follow, "follow", "f", false, "show new entries as they arrive, until Ctrl-C")
	cmd.AddCommand(c.newLogsSQL())
	return cmd
}

func (c *cli) newLogsSQL() *cobra.Command {
	var given sqlFlags
	var format string
	var limit int
	cmd := &cobra.Command{
		Use:   "sql [SQL | - [DIR]]",
		Short: "Show the rows of one SQL statement over requests, spans and logs",
		Args:  cobra.MaximumNArgs(2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			ctx := cmd.Context()
			if err := checkLimit(limit); err != nil {
				return err
			}
			q := inbox.LogQuery{MaxRows: limit}
			if q.Values, err = sqlshell.Parameters(given.params); err != nil {
				return err
			}
			out, err := c.newRows(format)
			if err != nil {
				return err
			}
			name, read, err := c.sqlInput(ctx, args, given.file)
			if err != nil {
				return err
			}
			defer func() { err = errors.Join(err, read.Close()) }()
			if q.Statement, err = sqlshell.OneStatement("logs sql", name, read); err != nil {
				return err
			}
			in, err := c.openInbox(nil)
			if err != nil {
				return err
			}
			more, err := in.QueryLog(ctx, q, out.Begin, out.Row)
			if err != nil {
				return errors.Join(out.Abort(), err)
			}
			if more {
				c.term.ProgressWarning("only the first %s; choose fewer, or pass --limit 0", wording.Count(limit, "row"))
			}
			return out.End()
		},
	}
	given.add(cmd)
	addRowFormat(cmd, &format)
	cmd.Flags().IntVar(&limit, "limit", 10_000, "at most the first `n` rows; 0 for all")
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
		return in.FollowLog(ctx, f.filter, c.printEntry)
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
		c.printTraced(e, f.filter.Trace != "")
	}
	if len(entries) == 0 {
		c.term.Progress("no entry of the log matches")
	}
	return nil
}

// printEntry prints an entry of the log.
func (c *cli) printEntry(e devserver.LogEntry) { c.printTraced(e, false) }

// printTraced is printEntry; a request that is traced has its steps.
func (c *cli) printTraced(e devserver.LogEntry, traced bool) {
	switch {
	case !c.term.JSON && traced && e.Request != nil:
		inbox.WriteTrace(c.term.Stdout, *e.Request, c.term.Colored(c.term.Stdout))
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

// check parses the flags that are not plain text.
func (f *logsFlags) check(now time.Time) (err error) {
	if f.filter.Since, err = parseSince(f.since, now); err != nil {
		return err
	}
	if f.filter.Status, err = parseStatuses(f.status); err != nil {
		return err
	}
	if level := f.filter.Level; level != "" && !slices.Contains(devserver.LogLevels(), level) {
		return failure.Usage("--level is %q; it must be one of %s", level, strings.Join(devserver.LogLevels(), ", "))
	}
	if err := checkLimit(f.filter.Limit); err != nil {
		return err
	}
	if err := f.checkTrace(); err != nil {
		return err
	}
	if _, err := path.Match(f.filter.Path, ""); err != nil {
		return failure.Usage("--path is %q, which is not a glob: a \"[\" is not closed", f.filter.Path)
	}
	f.filter.Member = f.member
	return nil
}

// checkTrace checks --trace and --slow.
func (f *logsFlags) checkTrace() error {
	const request = "req_"
	id := f.filter.Trace
	_, isTrace := trace.ParseID(id)
	switch {
	case f.filter.Slow < 0:
		return failure.Usage("--slow is %v; it must be a time such as 200ms or 1.5s", f.filter.Slow)
	case id != "" && !isTrace && !strings.HasPrefix(id, request):
		return failure.Usage("--trace is %q; it must be the id of a request, which begins with %q, or of a trace, which has "+
			"32 hexadecimal digits", id, request)
	case id != "" && f.follow:
		return failure.Usage("--trace shows requests that have ended: leave out --follow")
	}
	return nil
}

// parseSince parses a time, or a duration before now.
func parseSince(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at, nil
	}
	const day = 24
	number, ok := strings.CutSuffix(text, "d")
	if days, err := strconv.ParseFloat(number, 64); ok && err == nil {
		text = strconv.FormatFloat(days*day, 'f', -1, 64) + "h"
	}
	ago, err := time.ParseDuration(text)
	if err != nil || ago < 0 {
		return time.Time{}, failure.Usage("--since is %q; it must be a time such as 90s, 10m, 2h, 3d or 2026-05-06T07:08:09Z", text)
	}
	return now.Add(-ago), nil
}

// parseStatuses reads a list of statuses, classes and ranges.
func parseStatuses(text string) (list []devserver.StatusRange, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		r, ok := parseStatusRange(strings.ToLower(strings.TrimSpace(part)))
		if !ok {
			return nil, failure.Usage(
				"--status is %q; it must be a status such as 404, a class such as 5xx, a range such as 400-499, or several with commas",
				text,
			)
		}
		list = append(list, r)
	}
	return list, nil
}

func parseStatusRange(text string) (r devserver.StatusRange, ok bool) {
	const lowest, highest = 100, 599
	if digit, found := strings.CutSuffix(text, "xx"); found && len(digit) == 1 {
		text = digit + "00-" + digit + "99"
	}
	from, to, isRange := strings.Cut(text, "-")
	if !isRange {
		to = from
	}
	var err1, err2 error
	r.From, err1 = strconv.Atoi(from)
	r.To, err2 = strconv.Atoi(to)
	return r, err1 == nil && err2 == nil && r.From >= lowest && r.To >= r.From && r.To <= highest
}
