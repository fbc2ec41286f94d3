package main

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/devserver"
)

// check reads the flags that are more than text.
func (f *logsFlags) check(now time.Time) (err error) {
	if f.filter.Since, err = since(f.since, now); err != nil {
		return err
	}
	if f.filter.Status, err = statuses(f.status); err != nil {
		return err
	}
	if level := f.filter.Level; level != "" && !slices.Contains(devserver.LogLevels(), level) {
		return failure.Usage("--level is %q; it is one of %s", level, strings.Join(devserver.LogLevels(), ", "))
	}
	if f.filter.Limit < 0 {
		return failure.Usage("--limit is %d; it is 0 for all, or more", f.filter.Limit)
	}
	if _, err := path.Match(f.filter.Path, ""); err != nil {
		return failure.Usage("--path is %q, which is no glob: a \"[\" is not closed", f.filter.Path)
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
		return time.Time{}, failure.Usage("--since is %q; it is a time such as 90s, 10m, 2h, 3d or 2026-05-06T07:08:09Z", text)
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
			return nil, failure.Usage(
				"--status is %q; it is a status such as 404, a class such as 5xx, a range such as 400-499, or several with commas",
				text,
			)
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
