package migrate

import (
	"fmt"
	"go/token"
	"path"
	"strings"
)

// fileSet is the files in the order in which they are applied, checked and hashed once.
type fileSet struct {
	dir     string
	files   []File
	sums    map[string]string
	notices []Notice
}

// read reads the folder.
func (m *Migrator) read() (fileSet, error) {
	if m.fsys == nil {
		return fileSet{dir: m.o.Dir}.with(m.o.More), nil
	}
	files, notices, err := Read(m.fsys, m.o.Dir)
	if err != nil {
		return fileSet{}, err
	}
	set := fileSet{dir: m.o.Dir, files: files, sums: make(map[string]string, len(files)), notices: notices}
	for _, f := range files {
		set.sums[f.Name] = f.Sum()
	}
	return set.with(m.o.More), nil
}

// path returns the path of a file of the folder for positions.
func (s fileSet) path(name string) string { return path.Join(s.dir, name) }

// comparison compares the files with the ledger.
type comparison struct {
	fileSet
	Status
	o        Options
	known    map[string]Entry
	last     string          // the applied file that sorts last
	squashed map[string]bool // applied or present files that a squash replaces
}

// compare applies the rule for files: every applied file exists with its old sum, and every new one sorts after the
// last applied one.
func (s fileSet) compare(ledger []Entry, o Options) Status {
	c := &comparison{
		fileSet: s, Status: Status{Applied: ledger}, o: o, known: make(map[string]Entry, len(ledger)),
		squashed: map[string]bool{},
	}
	c.Warnings = append(c.Warnings, s.notices...)
	for _, e := range ledger {
		c.known[e.Name] = e
		c.last = max(c.last, e.Name)
	}
	for _, f := range s.files {
		c.squash(f)
	}
	for _, e := range ledger {
		if _, present := s.sums[e.Name]; !present && !c.squashed[e.Name] {
			c.addMissing(e)
		}
	}
	for _, f := range s.files {
		e, done := c.known[f.Name]
		switch {
		case c.squashed[f.Name]:
		case done && e.SHA256 != c.sums[f.Name]:
			c.Edited = append(c.Edited, f)
			c.refusals = append(c.refusals, f.errorWhole(CodeChecksumMismatch,
				fmt.Sprintf("the migration changed after it was applied on %s", e.AppliedAt.Format("2006-01-02 15:04:05 UTC")),
				"restore the file and put the change into a new migration; or undo it with pages migrate undo, "+
					"or start over with pages migrate reset; if the database already matches the file, pages migrate repair --accept "+
					c.o.Word(f.Name)))
		case done:
		case f.Name < c.last:
			c.addOutOfOrder(f)
		default:
			c.Pending = append(c.Pending, f)
		}
	}
	return c.Status
}

// addOutOfOrder adds a new file that sorts before an applied one.
func (c *comparison) addOutOfOrder(f File) {
	c.OutOfOrder = append(c.OutOfOrder, f)
	if !c.o.AllowOutOfOrder {
		fix := "rename it so that it sorts last; on this machine only, you can apply it now with pages migrate --allow-out-of-order"
		for _, gone := range c.Missing {
			if gone.SHA256 == c.sums[f.Name] {
				fix = fmt.Sprintf("rename it to %q, the name under which it was applied", gone.Name)
			}
		}
		c.refusals = append(
			c.refusals,
			f.errorWhole(CodeOutOfOrder, fmt.Sprintf("the new migration sorts before %q, which is already applied", c.last), fix),
		)
		return
	}
	c.Pending = append(c.Pending, f)
	c.Warnings = append(c.Warnings, Notice{
		Name: f.Name, Code: CodeOutOfOrder, Pos: token.Position{Filename: f.path()},
		Msg: fmt.Sprintf("%q was applied after %q, which sorts after it: a new database applies them in the reverse order", f.Name, c.last),
	})
}

// addMissing adds an applied file that was removed or renamed.
func (c *comparison) addMissing(e Entry) {
	c.Missing = append(c.Missing, e)
	gone := &Error{
		Pos: token.Position{Filename: c.path(e.Name)}, Code: CodeMissing,
		Msg: "the migration is applied, but its file is missing",
		Fix: "restore the file under its old name, or start over with pages migrate reset; if you no longer want its effects, or " +
			"another file replaces it, pages migrate repair --forget " + c.o.Word(e.Name),
	}
	for _, f := range c.files {
		if _, applied := c.known[f.Name]; !applied && c.sums[f.Name] == e.SHA256 {
			gone.Msg = fmt.Sprintf("the migration is applied, and its file now has the name %q", f.Name)
			gone.Fix = fmt.Sprintf("rename it to %q again: an applied migration keeps its name", e.Name)
			break
		}
	}
	c.refusals = append(c.refusals, gone)
}

// Stands describes which files of a failed run are applied; "" for a successful run.
func (r Result) Stands() string {
	if r.Failed == "" && len(r.TakenBack) == 0 {
		return ""
	}
	var parts []string
	if r.Failed != "" {
		parts = append(parts, r.Failed+" was rolled back")
	}
	switch n := len(r.TakenBack); {
	case n == 1:
		parts = append(parts, r.TakenBack[0]+" ran, and was rolled back")
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d files, %s to %s, ran and were rolled back", n, r.TakenBack[0], r.TakenBack[n-1]))
	}
	switch n := len(r.Applied); {
	case n == 1:
		parts = append(parts, r.Applied[0].Name+" stays applied")
	case n > 1:
		parts = append(parts,
			fmt.Sprintf("the %d files before it, %s to %s, stay applied", n, r.Applied[0].Name, r.Applied[n-1].Name))
	case len(r.TakenBack) > 0:
		parts = append(parts, "nothing is applied")
	}
	switch n := len(r.Remaining); {
	case n == 1:
		parts = append(parts, r.Remaining[0]+" did not run")
	case n > 1:
		parts = append(parts, fmt.Sprintf("%d files after it did not run", n))
	}
	return strings.Join(parts, "; ")
}
