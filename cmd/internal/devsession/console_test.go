package devsession

import (
	"bytes"
	"errors"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/devserver/site"
)

func TestNotices(t *testing.T) {
	for _, c := range []struct {
		name    string
		verbose bool
		say     func(*slog.Logger)
		want    string
	}{
		{
			"a message", false, func(l *slog.Logger) { l.Warn("more files changed than the system reports") },
			"warning: more files changed than the system reports\n",
		},
		{"why, and what it is about", false, func(l *slog.Logger) {
			l.Warn("the request log was not written", "rows", 3, "error", errors.New("no space left"))
		}, "warning: the request log was not written: no space left (rows 3)\n"},
		{
			"a fix", false, func(l *slog.Logger) { l.Warn("live reload does not work on /a", "fix", "reload its pages by hand") },
			"warning: live reload does not work on /a\nfix: reload its pages by hand\n",
		},
		{
			"an error of several lines", false, func(l *slog.Logger) { l.Error("request handler panicked", "stack", "one\ntwo\x1b[2J") },
			"error: request handler panicked (stack one\n  two\\x1b[2J)\n",
		},
		{
			"what belongs to all", false, func(l *slog.Logger) { l.With("site", "a").Warn("a site was not closed", "of", 2) },
			"warning: a site was not closed (site a, of 2)\n",
		},
		{"details", false, func(l *slog.Logger) { l.Debug("deliver a message") }, ""},
		{
			"details asked for", true, func(l *slog.Logger) { l.Debug("deliver a message", "error", "closed") },
			"note: deliver a message: closed\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			c.say(newConsole(&terminal.Terminal{Stderr: &out, Verbose: c.verbose}).logger())
			if got := out.String(); got != c.want {
				t.Errorf("said %q, want %q", got, c.want)
			}
		})
	}
}

// TestAdviseSlow: the first slow request prints advice for a faster one, once.
func TestAdviseSlow(t *testing.T) {
	react := []string{"react", "react-dom"}
	for _, c := range []struct {
		name        string
		development []string
		builtIn     bool
		want        string
	}{
		{
			"the built-in engine, a development build", react, true,
			"note: that took 213 ms of CPU time in the built-in engine, with the development build of react, react-dom\n" +
				"      pages dev --mode production    the build that a published page has\n" +
				"      pages dev --engine workerd     V8, which runs heavy JavaScript in less CPU time\n",
		},
		{
			"the built-in engine", nil, true,
			"note: that took 213 ms of CPU time in the built-in engine\n" +
				"      pages dev --engine workerd     V8, which runs heavy JavaScript in less CPU time\n",
		},
		{
			"workerd, a development build", react, false,
			"note: that took 213 ms of CPU time, with the development build of react, react-dom\n" +
				"      pages dev --mode production    the build that a published page has\n",
		},
		{"workerd", nil, false, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out bytes.Buffer
			k := newConsole(&terminal.Terminal{Stderr: &out})
			k.faster = c.builtIn
			k.setDevelopment(c.development)
			k.adviseSlow(site.RequestRecord{})
			k.adviseSlow(site.RequestRecord{Meter: &site.Meter{CPUMs: slowCPU - 1}})
			if out.Len() > 0 {
				t.Errorf("a quick request says %q", out.String())
			}
			for range 2 {
				k.adviseSlow(site.RequestRecord{Meter: &site.Meter{CPUMs: 213.4}})
			}
			if got := out.String(); got != c.want {
				t.Errorf("said %q, want %q", got, c.want)
			}
		})
	}
}

// TestWait: a long wait is shown once, a short one never.
func TestWait(t *testing.T) {
	said := make(chan string, 2)
	k := newConsole(&terminal.Terminal{Stderr: &bytes.Buffer{}})
	k.aside = func(format string, args ...any) { said <- fmt.Sprintf(format, args...) }
	k.after = time.Hour
	k.wait("a short wait")()
	k.after = 0
	done := k.wait(compileNotice([]bundler.Module{{Specifier: "./0123456789abcdef-css-node.wasm", Bytes: make([]byte, 15_800_000)}}))
	if got, want := <-said, "compiling css-node.wasm (15.8 MB), which takes long the first time"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	done()
	if len(said) > 0 {
		t.Errorf("said %q, too", <-said)
	}
	const want = "compiling 3 WebAssembly modules (0 B), which takes long the first time"
	if got := compileNotice(make([]bundler.Module, 3)); got != want {
		t.Errorf("says %q, want %q", got, want)
	}
}
