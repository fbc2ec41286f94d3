package main

import (
	"fmt"
	"io"
	"os/exec"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// endLines is the number of lines of a failed run's output in the summary.
const endLines = 12

func (s *soak) count(v verdict) (n int) {
	for _, r := range s.results {
		if r.verdict == v {
			n++
		}
	}
	return n
}

// line is one line of the summary: all jobs of a part in a package.
type line struct {
	part, path string
	jobs       int
	ended      map[verdict]int
	took       time.Duration
	names      []string
}

// lines sums the results up, in their order.
func (s *soak) lines() (list []*line) {
	at := map[string]*line{}
	for _, r := range s.results {
		key := r.part + " " + r.path
		l := at[key]
		if l == nil {
			l = &line{part: r.part, path: strings.TrimPrefix(r.path, "./"), ended: map[verdict]int{}}
			at[key] = l
			list = append(list, l)
		}
		l.jobs++
		l.took += r.took
		l.names = append(l.names, strings.TrimPrefix(strings.TrimPrefix(r.name, "Fuzz"), "Test"))
		l.ended[r.verdict]++
	}
	return list
}

// verdict is the worst verdict of the jobs.
func (l *line) verdict() string {
	switch {
	case l.ended[broke] > 0:
		return fmt.Sprintf("%d FAILED", l.ended[broke])
	case l.ended[stopped] > 0:
		return string(stopped)
	case l.ended[passed] == 0:
		return string(skipped)
	}
	return string(passed)
}

// summary lists the jobs, their times, and the failures.
func (s *soak) summary(w io.Writer) {
	fmt.Fprintf(w, "soak of %s for %s, on %s/%s with %d processors and %s\n\n",
		revision(), time.Since(s.began).Round(time.Second), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), runtime.Version())
	table := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, l := range s.lines() {
		what := strings.Join(l.names, " ")
		if l.part == "race" {
			what = fmt.Sprintf("%d rounds", l.jobs)
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\n", l.part, l.path, l.took.Round(time.Second), l.verdict(), shorten(what))
	}
	_ = table.Flush() // fails only when stdout has no reader
	for _, r := range s.results {
		if r.verdict == skipped {
			fmt.Fprintf(w, "\nskipped: %s %s: %s\n", r.path, r.name, r.why)
		}
	}
	if len(s.left) > 0 {
		fmt.Fprintf(w, "\nnot begun: %s\n", shorten(strings.Join(s.left, ", ")))
	}
	for _, r := range s.results {
		if r.verdict == broke {
			fmt.Fprintf(w, "\nFAILED: %s %s, after %s; all of it is in %s\n", r.path, r.name, r.took.Round(time.Second), r.log)
			for _, text := range end(r.log, endLines) {
				fmt.Fprintf(w, "    %s\n", text)
			}
		}
	}
	fmt.Fprintf(w, "\n%d runs: %d ok, %d failed, %d skipped, %d stopped, %d not begun\n",
		len(s.results)+len(s.left), s.count(passed), s.count(broke), s.count(skipped), s.count(stopped), len(s.left))
}

// shorten keeps a line of the table readable.
func shorten(text string) string {
	const longest = 100
	if r := []rune(text); len(r) > longest {
		return string(r[:longest-1]) + "…"
	}
	return text
}

// revision is git's description of the current commit.
func revision() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output() //nolint:noctx // it takes a moment
	if err != nil {
		return "the module"
	}
	return strings.TrimSpace(string(out))
}
