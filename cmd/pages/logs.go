package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
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
			"--follow each entry is a line of JSON of its own, of the type \"request\" or \"log\".\n\nExit codes: 0 done, also by Ctrl-C with --follow, 2 wrong usage, 9 the log cannot be read.",
		Example: "  pages logs --since 10m --status 5xx\n  pages logs --path '/api/*' --level warn --json\n  pages logs -f --grep timeout\n  pages logs --request req_4kx2",
		Args:    cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(c.now()); err != nil {
				return err
			}
			return c.logs(cmd.Context(), args, f)
		},
	}
	flags := cmd.Flags()
	flags.StringVar(&f.since, "since", "", "not older than a `time`: 90s, 10m, 2h, 3d, or a moment as 2026-05-06T07:08:09Z")
	flags.StringVar(&f.status, "status", "", "only these `statuses`: 404, 5xx, 400-499, or several with commas")
	flags.StringVar(&f.filter.Route, "route", "", "only requests that matched this `pattern` of the manifest")
	flags.StringVar(&f.filter.Path, "path", "", "only paths like this `glob`: * is anything, ? one character")
	flags.StringVar(&f.filter.Method, "method", "", "only this `method`")
	flags.StringVar(&f.filter.Level, "level", "", "only what was logged at this `level` or a more severe one ("+strings.Join(devserver.LogLevels(), ", ")+"); a failure is an error")
	flags.StringVar(&f.filter.Text, "grep", "", "only where path, error or a line has this `text`; case does not count")
	flags.StringVar(&f.filter.Request, "request", "", "only the request whose id begins with `ID`")
	flags.StringVar(&f.member, "member", "", "only requests of this signed-in member: an email or a `persona`")
	flags.IntVar(&f.filter.Limit, "limit", 100, "at most the newest `so many`; 0 for all")
	flags.BoolVarP(&f.follow, "follow", "f", false, "go on with what comes, until Ctrl-C")
	return cmd
}

// check reads the flags that are more than text.
func (f *logsFlags) check(now time.Time) (err error) {
	if f.filter.Since, err = since(f.since, now); err != nil {
		return err
	}
	if f.filter.Status, err = statuses(f.status); err != nil {
		return err
	}
	if level := f.filter.Level; level != "" && !slices.Contains(devserver.LogLevels(), level) {
		return usageError("--level is %q; it is one of %s", level, strings.Join(devserver.LogLevels(), ", "))
	}
	if f.filter.Limit < 0 {
		return usageError("--limit is %d; it is 0 for all, or more", f.filter.Limit)
	}
	if _, err := path.Match(f.filter.Path, ""); err != nil {
		return usageError("--path is %q, which is no glob: a \"[\" is not closed", f.filter.Path)
	}
	f.filter.Member = f.member
	return nil
}

// since reads a moment, or how long ago it was.
func since(text string, now time.Time) (time.Time, error) {
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
		return time.Time{}, usageError("--since is %q; it is a time such as 90s, 10m, 2h, 3d or 2026-05-06T07:08:09Z", text)
	}
	return now.Add(-ago), nil
}

// statuses reads a list of statuses, classes and ranges.
func statuses(text string) (list []devserver.StatusRange, err error) {
	if text == "" {
		return nil, nil
	}
	for part := range strings.SplitSeq(text, ",") {
		r, ok := statusRange(strings.ToLower(strings.TrimSpace(part)))
		if !ok {
			return nil, usageError("--status is %q; it is a status such as 404, a class such as 5xx, a range such as 400-499, or several with commas", text)
		}
		list = append(list, r)
	}
	return list, nil
}

func statusRange(text string) (r devserver.StatusRange, ok bool) {
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

// logs prints what the filter chooses.
func (c *cli) logs(ctx context.Context, args []string, f *logsFlags) error {
	dir, err := c.find(args)
	if err != nil {
		return err
	}
	if named, ok := personaOf(dir, f.member); ok {
		f.filter.Member = named.Email
	}
	s := &state{dir: c.statePath(dir)}
	if f.follow {
		return c.followLogs(ctx, s, f)
	}
	s.flushLog(ctx)
	db, err := s.openToRead(ctx, platformFile)
	if err != nil {
		return err
	}
	entries, err := devserver.ReadLog(ctx, db, f.filter)
	if err := errors.Join(err, db.Close()); err != nil {
		return c.unreadLog(ctx, s, err)
	}
	if c.json {
		c.printJSON(devserver.History(entries))
		return nil
	}
	for _, e := range entries {
		c.printEntry(e)
	}
	if len(entries) == 0 {
		c.progress("nothing in the log that fits")
	}
	return nil
}

// flushPatience is how long a dev server may take to write what it has answered.
const flushPatience = 2 * time.Second

// flushLog asks the dev server of the state, if one runs, to write what it has answered so far: it does so a moment
// later by itself. Without an answer there is what there is.
func (s *state) flushLog(ctx context.Context) {
	text, err := os.ReadFile(filepath.Join(s.dir, devFile))
	var r running
	if err != nil || json.Unmarshal(text, &r) != nil {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, flushPatience)
	defer cancel()
	ask, err := http.NewRequestWithContext(ctx, http.MethodPost, r.URL+flushPath, nil)
	if err != nil {
		return
	}
	ask.Header.Set("Authorization", "Bearer "+r.Token)
	ask.Header.Set("Content-Type", "application/json")
	if answer, err := http.DefaultClient.Do(ask); err == nil {
		_ = answer.Body.Close() // nothing in it is read
	}
}

// followLogs prints what is there, and then what comes. The log need not be there yet.
func (c *cli) followLogs(ctx context.Context, s *state, f *logsFlags) error {
	db, err := c.awaitLog(ctx, s)
	if db == nil {
		return err
	}
	defer db.Close()
	follower, err := devserver.FollowLog(ctx, db, f.filter, c.now)
	if err != nil {
		return c.unreadLog(ctx, s, err)
	}
	entries, err := devserver.ReadLog(ctx, db, f.filter)
	if err != nil {
		return c.unreadLog(ctx, s, err)
	}
	for _, e := range entries {
		c.tellEntry(e)
	}
	return c.unreadLog(ctx, s, follower.Run(ctx, c.tellEntry))
}

// awaitLog waits until there is a database; nil without an error when ctx ends first.
func (c *cli) awaitLog(ctx context.Context, s *state) (*sql.DB, error) {
	tick := time.NewTicker(guardPoll)
	defer tick.Stop()
	for told := false; !isFile(filepath.Join(s.dir, platformFile)); told = true {
		if !told {
			c.progress("waiting for pages dev to write a log")
		}
		select {
		case <-ctx.Done():
			return nil, nil
		case <-tick.C:
		}
	}
	return s.openToRead(ctx, platformFile)
}

// unreadLog is the error of a log that cannot be read; nil when it was Ctrl-C
// that ended the reading.
func (c *cli) unreadLog(ctx context.Context, s *state, err error) error {
	if err != nil && ctx.Err() == nil {
		return s.unopened(platformFile, err)
	}
	return nil
}

// tellEntry prints an entry of a log that is followed.
func (c *cli) tellEntry(e devserver.LogEntry) {
	if !c.json {
		c.printEntry(e)
		return
	}
	var event any = typedLine{"log", derefLine(e.Line)}
	if e.Request != nil {
		event = typedLoggedRequest{"request", *e.Request}
	}
	enc := json.NewEncoder(c.stdout)
	enc.SetEscapeHTML(false)
	// Writing to stdout fails only when its reader is gone.
	_ = enc.Encode(event)
}

// typedLoggedRequest is a request among the lines of --json.
type typedLoggedRequest struct {
	Type string `json:"type"`
	devserver.LoggedRequest
}

func derefLine(l *site.LogLine) site.LogLine {
	if l == nil {
		return site.LogLine{}
	}
	return *l
}

// printEntry prints an entry for people: a request with its lines below it.
func (c *cli) printEntry(e devserver.LogEntry) {
	colour := c.colored(c.stdout)
	if e.Line != nil {
		c.printLine(e.Line.Time, e.Line.Request, devserver.FormatLine(*e.Line, colour))
		return
	}
	c.printLine(e.Request.At, e.Request.ID, devserver.FormatRequest(e.Request.RequestRecord, colour))
	for _, l := range e.Request.Logs {
		printIndented(c.stdout, devserver.FormatLine(l, colour))
	}
}

func (c *cli) printLine(at site.Stamp, id, text string) {
	const width = len("req_") + 12
	first, rest, several := strings.Cut(text, "\n")
	fmt.Fprintf(c.stdout, "%s  %-*s  %s\n", at.Local().Format("2006-01-02 15:04:05.000"), width, id, first)
	if several {
		printIndented(c.stdout, rest)
	}
}

func printIndented(w io.Writer, text string) {
	for line := range strings.SplitSeq(text, "\n") {
		fmt.Fprintf(w, "    %s\n", line)
	}
}
