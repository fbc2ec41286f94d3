package main

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is one run of the command.
type bench struct {
	environ        []string
	stdout, stderr io.Writer
	now            func() time.Time

	options
	load    loader
	busy    float64 // the load of the machine before anything was measured
	results results
	until   time.Time         // when the part under way begins no other round; zero for never
	absent  map[string]string // why a peer, or a measure, could not be measured
}

// measurer measures a part in a folder of its own.
type measurer = func(ctx context.Context, dir string) error

// options are the command line's.
type options struct {
	pages, wrangler, node, wrk, modules string
	jq, ajv                             string
	caddy, chromium                     string
	rounds, saves                       int
	duration, rest, budget              time.Duration
	json                                bool
	out                                 string
	parts                               []string
}

func (b *bench) say(format string, args ...any) {
	fmt.Fprintf(b.stderr, "bench: "+format+"\n", args...)
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// missing notes that a peer cannot be measured, and says so.
func (b *bench) missing(peer, format string, args ...any) {
	b.absent[peer] = fmt.Sprintf(format, args...)
	b.say("%s is not measured: %s", peer, b.absent[peer])
}

// has reports whether a part is to be measured: all are, unless some are named.
func (b *bench) has(part string) bool {
	return len(b.parts) == 0 || slices.Contains(b.parts, part)
}

// ourProgram is the binary that is measured.
func (b *bench) ourProgram() (string, error) {
	pages, err := exec.LookPath(b.pages)
	if err == nil {
		pages, err = filepath.Abs(pages)
	}
	if err != nil {
		return "", fmt.Errorf("there is no %s: run \"make build\" first, or give --pages", b.pages)
	}
	return pages, nil
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// loader asks a server as fast as it answers.
type loader interface {
	name() string
	// rate is the answers a second. Anything but a 2xx is an error.
	rate(ctx context.Context, url string, d time.Duration) (float64, error)
}
