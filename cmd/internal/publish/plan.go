package publish

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// shownFiles is the number of files of a kind that a plan lists; --verbose lists all.
const shownFiles = 10

// PrintPlan prints a plan for people.
func PrintPlan(t *terminal.Terminal, w io.Writer, p *deploy.Plan) {
	printLines(t, w, planLines(p, t.Verbose))
}

// printRehearsal prints the effects of a plan's migrations.
func printRehearsal(t *terminal.Terminal, w io.Writer, p *deploy.Plan) {
	text := &planText{}
	text.addMigrated(p)
	printLines(t, w, text.lines)
}

func printLines(t *terminal.Terminal, w io.Writer, lines []planLine) {
	if t.JSON || t.Quiet && w == t.Stderr {
		return
	}
	for _, line := range lines {
		text := line.text
		if line.style != "" {
			text = t.PaintFor(w, line.style, text)
		}
		fmt.Fprintln(w, text)
	}
}

// planLine is a line of a plan, with its SGR style.
type planLine struct{ style, text string }

// planText is the text of a plan, line by line.
type planText struct {
	lines []planLine
	all   bool // list every file
}

func (t *planText) add(style, format string, args ...any) {
	t.lines = append(t.lines, planLine{style, wording.Printable(fmt.Sprintf(format, args...))})
}

// list adds a line, unless the list is empty.
func (t *planText) list(style, what string, names []string) {
	if len(names) > 0 {
		t.add(style, "%s: %s", what, strings.Join(names, ", "))
	}
}

// files adds the files of one kind.
func (t *planText) files(mark, style, what string, changes []deploy.Change) {
	if len(changes) == 0 {
		return
	}
	var bytes int64
	for _, c := range changes {
		bytes += c.Bytes
	}
	t.add("", "%s %s (%s)", wording.Count(len(changes), "file"), what, wording.Size(bytes))
	for i, c := range changes {
		if i == shownFiles && !t.all {
			t.add("", "  "+moreFiles, len(changes)-i)
			return
		}
		was := ""
		if c.Was != 0 {
			was = ", was " + wording.Size(c.Was)
		}
		t.add(style, "  %s %s (%s%s)", mark, c.Path, wording.Size(c.Bytes), was)
	}
}

// access adds the access of visitors to paths.
func (t *planText) access(list []manifest.Audience) {
	t.add("", "who may see what:")
	rest := "all else"
	if len(list) == 1 {
		rest = "everything"
	}
	for i, a := range list {
		if i == shownFiles && !t.all {
			t.add("", "  … and %d more (--verbose lists them)", len(list)-i)
			return
		}
		who, what, style := "everyone", cmp.Or(a.Pattern, rest), ""
		if a.Access == manifest.Members {
			who = "members "
			if a.Files == 0 && !a.Worker {
				style = "33"
			}
		}
		t.add(style, "  %s  %s (%s)", who, what, a.Extent())
	}
}

const moreFiles = "… and %d more (--verbose lists them)"

// first returns the first items of a list, and the number of the others.
func (t *planText) first(files []string) []string {
	if n := len(files); n > shownFiles && !t.all {
		return append(slices.Clone(files[:shownFiles]), fmt.Sprintf(moreFiles, n-shownFiles))
	}
	return files
}

// planLines returns the text of a plan. With all it lists every file.
func planLines(p *deploy.Plan, all bool) []planLine {
	t := &planText{all: all}
	switch {
	case p.Live == "":
		t.add("", "live now: nothing; this is the first revision")
	case !p.Known:
		t.add("33", "live now: %s, whose files the service does not have: all count as new", p.Live)
	default:
		t.add("", "live now: %s", p.Live)
	}
	if !p.Changes {
		t.add("", "no changes: %s, %s", wording.Count(p.Files, "file"), wording.Size(p.Bytes))
	}
	t.files("+", "32", "added", p.Added)
	t.files("~", "33", "changed", p.Changed)
	var lost, private []deploy.Change
	for _, c := range p.Removed {
		if c.Served {
			lost = append(lost, c)
		} else {
			private = append(private, c)
		}
	}
	t.files("-", "31", "removed", lost)
	t.files("-", "", "removed, never visible to visitors", private)
	t.access(p.AccessList)
	for _, a := range p.Access {
		if a.Now == manifest.Public {
			t.add("31;1", "! %s becomes PUBLIC: only members may see it now", a.Path)
		} else {
			t.add("33", "  %s becomes members only", a.Path)
		}
	}
	t.list("33", "source maps, which show everyone the sources of scripts (.assetsignore with *.map leaves them out)",
		t.first(p.SourceMaps))
	t.list("31", "routes that the Worker no longer answers", p.LostRoutes)
	migrations := "migrations that run before it goes live"
	if p.Live != "" { // the database may have them from a revision that was live before
		migrations = "migrations that are not live yet (each runs before it goes live, unless the database has it)"
	}
	t.list("", migrations, p.Migrations)
	t.addMigrated(p)
	t.list("", "created on the first publish", p.Provisions)
	t.list("33", "bindings that the Worker loses (their data stays)", p.Dropped)
	t.list("33;1", "secrets without a value on the site (set them: pages secrets set NAME)", p.MissingSecrets)
	for _, l := range p.Limits {
		t.add("", "limit %s: %d, was %d", l.Name, l.Now, l.Was)
	}
	t.list("", "changed in pages.deploy.json", p.Settings)
	left := make([]string, len(p.LeftOut))
	for i, l := range p.LeftOut {
		left[i] = fmt.Sprintf("%s (%s)", l.Path, l.Reason)
	}
	t.list("33", fmt.Sprintf("%d left out, not visible to visitors", len(left)), t.first(left))
	return t.lines
}
