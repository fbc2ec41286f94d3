package main

import (
	"bytes"
	"errors"
	"log/slog"
	"testing"
)

func TestNotices(t *testing.T) {
	for _, c := range []struct {
		name    string
		verbose bool
		say     func(*slog.Logger)
		want    string
	}{
		{"a message", false, func(l *slog.Logger) { l.Warn("more files changed than the system reports") }, "warning: more files changed than the system reports\n"},
		{"why, and what it is about", false, func(l *slog.Logger) {
			l.Warn("the request log was not written", "rows", 3, "error", errors.New("no space left"))
		}, "warning: the request log was not written: no space left (rows 3)\n"},
		{"a fix", false, func(l *slog.Logger) { l.Warn("live reload does not work on /a", "fix", "reload its pages by hand") }, "warning: live reload does not work on /a\nfix: reload its pages by hand\n"},
		{"an error of several lines", false, func(l *slog.Logger) { l.Error("request handler panicked", "stack", "one\ntwo\x1b[2J") }, "error: request handler panicked (stack one\n  two\\x1b[2J)\n"},
		{"what belongs to all", false, func(l *slog.Logger) { l.With("site", "a").Warn("a site was not closed", "of", 2) }, "warning: a site was not closed (site a, of 2)\n"},
		{"details", false, func(l *slog.Logger) { l.Debug("deliver a message") }, ""},
		{"details asked for", true, func(l *slog.Logger) { l.Debug("deliver a message", "error", "closed") }, "note: deliver a message: closed\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			c.say(newConsole(&cli{env: env{stderr: &out}, verbose: c.verbose}).logger())
			if got := out.String(); got != c.want {
				t.Errorf("said %q, want %q", got, c.want)
			}
		})
	}
}
