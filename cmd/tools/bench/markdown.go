package main

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// writeMarkdown writes BENCHMARKS.md: the table of every ratio that is promised, with
// the commands, the machine and the versions.
func writeMarkdown(w io.Writer, rows []row, facts []fact, at time.Time, took time.Duration) error {
	var b strings.Builder
	kept, told, broken, missing := tally(rows)
	fmt.Fprintf(&b,
		"# Benchmarks\n\nWritten by `make bench` on %s in %s. %d ratios are promised: %d kept, %d broken, %d not "+
			"compared; %d more are told.\n",
		at.UTC().Format("2006-01-02 15:04 MST"), took.Round(time.Second), kept+broken+missing, kept, broken, missing, told)
	b.WriteString("\nBoth sides take turns in one run, and medians are compared. \"times better\" is how many times " +
		"our figure is better than\n" +
		"the peer's; a promise below 1 allows us to be that much worse. `go run ./cmd/tools/bench PART` measures a part by itself.\n")
	part := ""
	for _, r := range rows {
		if r.Part != part {
			part = r.Part
			fmt.Fprintf(
				&b,
				"\n## %s\n\n| measure | pages | peer | its figure | times better | promise | | rounds | commands |\n"+
					"|---|---|---|---|---|---|---|---|---|\n",
				part,
			)
		}
		theirs, times, verdict := r.words()
		fmt.Fprintf(&b, "| %s | %s | %s | %s | %s | %s | %s | %d, %d | `%s` · `%s` |\n", cell(string(r.Measure)),
			quantity(r.Pages, r.Unit), cell(r.Peer), theirs, times, r.promised(),
			cell(verdict), len(r.PagesValues), len(r.PeerValues), cell(r.OurCommand), cell(r.PeerCommand))
	}
	b.WriteString("\n## Machine and versions\n\n| | |\n|---|---|\n")
	for _, f := range facts {
		fmt.Fprintf(&b, "| %s | %s |\n", f.Name, cell(f.Value))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tally counts rows by how they came out.
func tally(rows []row) (kept, told, broken, missing int) {
	for _, r := range rows {
		switch {
		case r.Promise == 0:
			told++
		case r.Kept == nil:
			missing++
		case *r.Kept:
			kept++
		default:
			broken++
		}
	}
	return kept, told, broken, missing
}

// cell keeps text within a cell of a table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ").Replace(text)
}
