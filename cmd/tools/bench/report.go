package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// row is one line of the report.
type row struct {
	Part    string  `json:"part"`
	Measure measure `json:"measure"`
	Unit    string  `json:"unit"`
	Pages   float64 `json:"pages"`
	Peer    string  `json:"peer"`
	// PeerMedian and Times are 0 without a peer.
	PeerMedian float64 `json:"peer_median"`
	// Times is our advantage as a factor.
	Times   float64 `json:"times"`
	Promise float64 `json:"promise"`
	// Kept is null when it is unknown.
	Kept *bool `json:"kept"`
	// Missing is the reason why there is no comparison.
	Missing string `json:"missing,omitempty"`
	// OurCommand and PeerCommand are the commands of the measure.
	OurCommand  string `json:"command"`
	PeerCommand string `json:"peer_command"`
	// PagesValues and PeerValues are all rounds'.
	PagesValues []float64 `json:"pages_values"`
	PeerValues  []float64 `json:"peer_values"`
}

// compare makes the report of the medians.
func (r results) compare(promises []promise) []row {
	var rows []row
	for _, p := range promises {
		line := row{
			Measure: p.measure, Unit: p.unit, Peer: p.peer, Promise: p.times,
			PagesValues: r[us][p.measure], PeerValues: r[p.peer][p.against],
		}
		line.OurCommand, line.PeerCommand = commands(p.measure, p.peer)
		line.Pages, line.PeerMedian = median(line.PagesValues), median(line.PeerValues)
		if line.Pages > 0 && line.PeerMedian > 0 {
			line.Times = line.PeerMedian / line.Pages
			if p.rate {
				line.Times = line.Pages / line.PeerMedian
			}
			kept := line.Times >= p.times
			line.Kept = &kept
		}
		rows = append(rows, line)
	}
	return rows
}

// allKept reports whether no promise is known to be broken.
func allKept(rows []row) bool {
	return !slices.ContainsFunc(rows, func(r row) bool { return r.Kept != nil && !*r.Kept })
}

func writeJSON(w io.Writer, rows []row, facts []fact, load string) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(map[string]any{"ok": allKept(rows), "load": load, "machine": facts, "rows": rows})
}

func writeTable(w io.Writer, rows []row, load string) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "measure\tpages\tpeer\tits figure\ttimes better\tpromise\t")
	for _, r := range rows {
		theirs, times, verdict := r.words()
		cells := []string{string(r.Measure), quantity(r.Pages, r.Unit), r.Peer, theirs, times, r.promiseText(), verdict}
		fmt.Fprintln(t, strings.Join(cells, "\t"))
	}
	fmt.Fprintf(t, "\nMedians. Load: %s. Memory: sum over all processes of a side.\n", load)
	return t.Flush()
}

// folders matches the folders of a path on this machine: a report has only the names of files.
var folders = regexp.MustCompile(`/(?:[^\s/:]+/)+`)

// words are the peer's figure, the ratio and the verdict.
func (r row) words() (theirs, times, verdict string) {
	switch {
	case r.Kept == nil:
		theirs, times, verdict = "-", "-", "not compared"
		if r.Missing != "" {
			line, _, _ := strings.Cut(r.Missing, "\n")
			verdict += ": " + folders.ReplaceAllString(line, "")
		}
		return theirs, times, verdict
	case r.Promise == 0:
	case *r.Kept:
		verdict = "kept"
	default:
		verdict = "BROKEN"
	}
	return quantity(r.PeerMedian, r.Unit), factor(r.Times), verdict
}

// promiseText writes the promise.
func (r row) promiseText() string {
	if r.Promise == 0 {
		return "-"
	}
	return factor(r.Promise)
}

// factor writes a ratio with its significant digits.
func factor(times float64) string {
	if times < 10 {
		return fmt.Sprintf("%.2g", times)
	}
	return fmt.Sprintf("%.0f", times)
}

// quantity writes a value, or a dash for a missing one.
func quantity(v float64, unit string) string {
	if v == 0 {
		return "-"
	}
	if v < 10 {
		return fmt.Sprintf("%.2g %s", v, unit)
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}

// writeMarkdown writes BENCHMARKS.md: the table of every ratio that is promised, with
// the commands, the machine and the versions.
func writeMarkdown(w io.Writer, rows []row, facts []fact, at time.Time, took time.Duration) error {
	var b strings.Builder
	kept, told, broken, missing := tally(rows)
	fmt.Fprintf(&b,
		"# Benchmarks\n\nWritten by `make bench` on %s in %s. %d ratios are promised: %d kept, %d broken, %d not "+
			"compared; %d more have no promise.\n",
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
			quantity(r.Pages, r.Unit), cell(r.Peer), theirs, times, r.promiseText(),
			cell(verdict), len(r.PagesValues), len(r.PeerValues), cell(r.OurCommand), cell(r.PeerCommand))
	}
	b.WriteString("\n## Machine and versions\n\n| | |\n|---|---|\n")
	for _, f := range facts {
		fmt.Fprintf(&b, "| %s | %s |\n", f.Name, cell(f.Value))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// tally counts rows by their verdicts.
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

// fact is one line about the machine or a tool.
type fact struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// facts are the facts about the machine, and the versions of everything in the comparison.
func (b *bench) facts(ctx context.Context) []fact {
	all := []fact{
		{"machine", fmt.Sprintf("%s/%s, %d processors (%s), %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor(), memory())},
		{"kernel", b.firstLine(ctx, "uname", "-sr")},
		{"load", fmt.Sprintf("%.2f at the start", b.busy)},
		{"pages", b.firstLine(ctx, b.pages, "version") + ", commit " + b.firstLine(ctx, "git", "describe", "--always", "--dirty")},
		{"Go", runtime.Version()},
		{"load generator", b.load.name()},
	}
	if command, err := b.wranglerCommand(ctx); err == nil {
		modules := filepath.Dir(filepath.Dir(filepath.Dir(command[1])))
		all = append(
			all, fact{"Node.js", b.firstLine(ctx, command[0], "--version")},
			fact{"wrangler", packageVersion(filepath.Join(modules, "wrangler"))},
			fact{"workerd", packageVersion(filepath.Join(modules, "workerd"))},
		)
	} else {
		all = append(all, fact{"wrangler, workerd", "not measured: " + err.Error()})
	}
	return append(all,
		fact{"caddy", b.firstLine(ctx, cmp.Or(b.caddy, "caddy"), "version")},
		fact{"Chromium", b.firstLine(ctx, b.browserProgram(), "--version")},
		fact{"jq", b.firstLine(ctx, cmp.Or(b.jq, "jq"), "--version")},
		fact{"ajv", packageVersion(filepath.Join(b.ajv, "ajv"))},
		fact{"sqlite3", b.firstLine(ctx, "sqlite3", "--version")},
		fact{"sha256sum", b.firstLine(ctx, "sha256sum", "--version")},
	)
}

// absentTool is shown as the version of a missing tool.
const absentTool = "absent"

// firstLine is the first line that a program prints.
func (b *bench) firstLine(ctx context.Context, program string, args ...string) string {
	path, err := exec.LookPath(program)
	if err != nil {
		return absentTool
	}
	cmd := exec.CommandContext(ctx, path, args...)
	cmd.Env = b.environ
	out, err := cmd.Output()
	if err != nil {
		return absentTool
	}
	return firstLine(strings.TrimSpace(string(out)))
}

// packageVersion is the version of an npm package in its folder.
func packageVersion(dir string) string {
	text, err := os.ReadFile(filepath.Join(dir, "package.json"))
	var p struct{ Version string }
	if err != nil || json.Unmarshal(text, &p) != nil || p.Version == "" {
		return absentTool
	}
	return p.Version
}

// processor is the name of the machine's processor.
func processor() string { return procField("/proc/cpuinfo", "model name", runtime.GOARCH) }

// memory is the machine's memory.
func memory() string {
	size := kibibytes(procField("/proc/meminfo", "MemTotal", ""))
	if size == 0 {
		return "memory unknown"
	}
	return fmt.Sprintf("%.1f GB of memory", float64(size)/1e9)
}
