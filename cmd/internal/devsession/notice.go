package devsession

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// notices is a slog.Handler that tells a person what a room has to say that nobody asked
// for: "warning: what it is (what belongs to it)" and, where it comes with an attribute
// "fix", a line with that. The attribute "error" is why.
type notices struct {
	console *console
	level   slog.Level
	with    []slog.Attr
}

// Enabled implements slog.Handler.
func (n notices) Enabled(_ context.Context, level slog.Level) bool { return level >= n.level }

// WithAttrs implements slog.Handler.
func (n notices) WithAttrs(attrs []slog.Attr) slog.Handler {
	n.with = append(slices.Clip(n.with), attrs...)
	return n
}

// WithGroup implements slog.Handler. No room names a group.
func (n notices) WithGroup(string) slog.Handler { return n }

// Handle implements slog.Handler.
func (n notices) Handle(_ context.Context, r slog.Record) error {
	text, fix, about := r.Message, "", []string(nil)
	take := func(a slog.Attr) bool {
		switch value := a.Value.Resolve().String(); a.Key {
		case "fix":
			fix = value
		case "error":
			text += ": " + value
		default:
			about = append(about, a.Key+" "+value)
		}
		return true
	}
	for _, a := range n.with {
		take(a)
	}
	r.Attrs(take)
	if about != nil {
		text += " (" + strings.Join(about, ", ") + ")"
	}
	n.console.notice(r.Level, text, fix)
	return nil
}

// notice prints what a room has to say, also when quiet is wanted.
func (k *console) notice(level slog.Level, text, fix string) {
	style, label := "33", "warning:"
	switch {
	case level >= slog.LevelError:
		style, label = "31;1", "error:"
	case level < slog.LevelWarn:
		style, label = "2", "note:"
	}
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = wording.Printable(line)
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	fmt.Fprintln(k.term.Stderr, k.term.Paint(style, label), strings.Join(lines, "\n  "))
	if fix != "" {
		fmt.Fprintln(k.term.Stderr, k.term.Paint("36", "fix:"), wording.Printable(fix))
	}
}
