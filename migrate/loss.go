package migrate

import (
	"bytes"
	"cmp"
	"fmt"
	"go/token"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// The causes of a [Loss].
const (
	LossDelete  = "delete"      // DELETE
	LossDrop    = "drop"        // DROP TABLE, also for a table that is rebuilt with fewer rows
	LossCascade = "cascade"     // ON DELETE CASCADE, set off by a deletion or by DROP TABLE
	LossSetNull = "set null"    // ON DELETE SET NULL or SET DEFAULT, set off likewise
	LossTrigger = "trigger"     // by a trigger
	LossReplace = "replace"     // REPLACE, INSERT OR REPLACE, UPDATE OR REPLACE, ON CONFLICT REPLACE
	LossColumn  = "drop column" // ALTER TABLE … DROP COLUMN, or a table rebuilt without the column or its values
	LossNarrow  = "narrow"      // values cut by another type or a shorter text: 'abc' as an integer, 1.5 as 1
	LossUpdate  = "update"      // UPDATE that sets values to NULL, or to one value in all rows
)

// Loss counts the rows from before the run that one statement removes. Rows that the same run inserted do not count, nor does a row that it
// deletes and inserts again. A rebuilt table loses the rows that its successor of the same name lacks. Rows that move to another table are
// lost from their own. Other changes of values by an UPDATE are not losses. When more than 100 statements of a file do the same to a table,
// the last listed one includes the rows of all later ones.
type Loss struct {
	Table     string         // the table before the run whose rows or values are lost
	Column    string         // "" for whole rows
	Rows      int64          // rows deleted, or rows that lose a value
	Cause     string         // one of the Loss constants
	Statement string         // the statement in one line, at most 200 characters
	Name      string         // the migration file
	Pos       token.Position // file and line of the statement
	Allowed   bool           // a comment "-- pages: loses TABLE" stands directly above the statement
}

// losses lists the losses in the order of the statements, with notices for comments that allow a loss without effect.
func (a *account) losses(spans map[string][]span) ([]Loss, []Notice) {
	keys := make([]lossKey, 0, len(a.lost))
	for k := range a.lost {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, func(x, y lossKey) int {
		return cmp.Or(cmp.Compare(x.step.order, y.step.order), strings.Compare(x.table.origin, y.table.origin),
			strings.Compare(x.column, y.column), strings.Compare(x.cause, y.cause))
	})
	type kind struct { // of losses with a bound on the statements that are listed
		file, column, cause string
		table               *object
		allowed             bool
	}
	comments, kinds := map[*step]*permit{}, map[kind][]int{} // indexes in the list
	var list []Loss
	var at token.Position
	for _, k := range keys {
		f, s := k.step.file, k.step.span
		if comments[k.step] == nil {
			comments[k.step] = f.permit(spans[f.Name], s)
		}
		of := kind{f.Name, k.column, k.cause, k.table, comments[k.step].allows(k.table)}
		if same := kinds[of]; len(same) == maxStatements {
			list[same[maxStatements-1]].Rows += a.lost[k]
			continue
		}
		if at.Filename != f.path() {
			at = position(f.path(), f.SQL, 0)
		}
		at = advance(at, string(f.SQL[at.Offset:s.start]))
		kinds[of] = append(kinds[of], len(list))
		list = append(list, Loss{
			Table: k.table.origin, Column: k.column, Rows: a.lost[k], Cause: k.cause, Statement: oneLine(f.SQL[s.start:s.end]),
			Name: f.Name, Pos: at, Allowed: of.allowed,
		})
	}
	return list, append(a.counted, a.unfounded(spans, comments)...)
}

// maxStatements bounds the listed statements of a file that remove rows or values of one table or column for one cause. The
// last one listed includes the losses of later ones.
const maxStatements = 100

// maxStatementShown bounds the text of a statement in a Loss, in characters.
const maxStatementShown = 200

// oneLine returns a statement in one line.
func oneLine(sql []byte) string {
	text := strings.Join(strings.Fields(strings.TrimSuffix(string(sql), ";")), " ")
	if utf8.RuneCountInString(text) <= maxStatementShown {
		return text
	}
	return string([]rune(text)[:maxStatementShown-1]) + "…"
}

// permit is a comment above a statement that allows it to lose rows of tables.
type permit struct {
	tables []string
	used   map[string]bool
	offset int   // of the last comment in the file
	read   []int // offsets of all
}

func (p *permit) allows(o *object) bool {
	allowed := false
	for _, name := range p.tables {
		for _, known := range append([]string{o.origin, o.name}, o.names...) {
			if dbfile.SameName(known, name) {
				p.used[name], allowed = true, true
			}
		}
	}
	return allowed
}

// permit reads the comments between a statement and its predecessor, except those on the predecessor's line.
func (f File) permit(spans []span, s span) *permit {
	p := &permit{used: map[string]bool{}}
	begin := 0
	if before, _ := slices.BinarySearchFunc(spans, s.start+1, func(x span, at int) int { return x.end - at }); before > 0 {
		begin = spans[before-1].end
	}
	if !bytes.Contains(f.SQL[begin:s.start], []byte("--")) {
		return p
	}
	for at, behind := begin, begin > 0; at < s.start; {
		t := sqltext.Next(f.SQL, at)
		text := string(f.SQL[t.Start:t.End])
		at = t.End
		if behind = behind && !strings.ContainsAny(text, "\r\n"); behind || !strings.HasPrefix(text, "--") {
			continue
		}
		if names := losesComment(text); names != nil {
			p.tables, p.offset, p.read = append(p.tables, names...), t.Start, append(p.read, t.Start)
		}
	}
	return p
}

// cutWord removes a word, in any case, from the front of a text.
func cutWord(text, want string) (string, bool) {
	text = strings.TrimLeft(text, " \t")
	if len(text) < len(want) || !strings.EqualFold(text[:len(want)], want) {
		return "", false
	}
	return text[len(want):], true
}

// losesComment returns the names of tables in a comment "-- pages: loses a, b".
func losesComment(comment string) (names []string) {
	rest, ok := cutWord(strings.TrimLeft(comment, "-"), "pages:")
	if ok {
		rest, ok = cutWord(rest, "loses")
	}
	if !ok || rest == "" || !strings.ContainsAny(rest[:1], " \t") {
		return nil
	}
	src := []byte(rest)
	for pos := 0; pos < len(src); {
		t := sqltext.Next(src, pos)
		pos = t.End
		if t.Kind == sqltext.Word || t.Kind == sqltext.Quoted {
			names = append(names, dbfile.UnquoteName(string(src[t.Start:t.End])))
		}
	}
	return names
}

const maxUnfounded = 100 // notices

// misplaced returns notices about comments that seem to allow a loss but have no effect: they are not above a statement, or are
// misspelled.
func (f File) misplaced(spans []span) (notices []Notice) {
	read := map[int]bool{}
	for _, s := range spans {
		for _, offset := range f.permit(spans, s).read {
			read[offset] = true
		}
	}
	at := position(f.path(), f.SQL, 0)
	for pos := 0; pos < len(f.SQL) && len(notices) < maxUnfounded; {
		t := sqltext.Next(f.SQL, pos)
		pos = t.End
		text := string(f.SQL[t.Start:t.End])
		if !strings.HasPrefix(text, "--") && !strings.HasPrefix(text, "/*") || read[t.Start] {
			continue
		}
		rest, ok := cutWord(strings.TrimLeft(text, "-/*"), "pages:")
		_, loses := cutWord(rest, "los")
		_, looses := cutWord(rest, "loos")
		if ok && (loses || looses) {
			at = advance(at, string(f.SQL[at.Offset:t.Start]))
			notices = append(notices, Notice{
				Name: f.Name, Pos: at, Code: CodeLossUnfounded,
				Msg: fmt.Sprintf(`the comment %q allows nothing: write "-- pages: loses TABLE" on its own line above the statement`,
					oneLine([]byte(text))),
			})
		}
	}
	return notices
}

// LossComment returns the comment that allows the statement below it to remove rows or values of tables.
func LossComment(tables ...string) string {
	words := make([]string, len(tables))
	for i, name := range tables {
		if words[i] = name; !isBareName(name) {
			words[i] = dbfile.QuoteName(name)
		}
	}
	return "-- pages: loses " + strings.Join(words, ", ")
}

// isBareName reports whether a name is one word in SQL, perhaps a reserved one.
func isBareName(name string) bool {
	return name != "" && strings.Trim(name[:1], "0123456789") != "" && !strings.ContainsFunc(name, func(r rune) bool {
		return r != '_' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	})
}

// unfounded returns notices about comments that allow a loss that did not occur. It ignores tables that are empty or created by
// the run: the statement may cause a loss on another database.
func (a *account) unfounded(spans map[string][]span, read map[*step]*permit) (notices []Notice) {
	known := map[string]bool{}
	for _, o := range slices.Concat(a.w.before, a.w.made) {
		if o.origin == "" || a.rows[o.origin] == 0 {
			for _, name := range append(o.names, o.name) {
				known[dbfile.FoldName(name)] = true
			}
		}
	}
	type place struct {
		file  string
		start int
	}
	permits := map[place]*permit{}
	for s, p := range read {
		permits[place{s.file.Name, s.span.start}] = p
	}
	for _, f := range a.files() {
		notices = append(notices, f.misplaced(spans[f.Name])...)
		at := position(f.path(), f.SQL, 0)
		for _, s := range spans[f.Name] {
			p := permits[place{f.Name, s.start}]
			if p == nil {
				p = f.permit(spans[f.Name], s)
			}
			for _, name := range p.tables {
				if !p.used[name] && !known[dbfile.FoldName(name)] && len(notices) < maxUnfounded {
					at = advance(at, string(f.SQL[at.Offset:p.offset]))
					notices = append(notices, Notice{
						Name: f.Name, Pos: at, Code: CodeLossUnfounded,
						Msg: fmt.Sprintf("the comment allows a loss of %q, and the statement below removes nothing from it", name),
					})
				}
			}
		}
	}
	return notices
}

// files lists the files that ran and may have a comment that allows a loss.
func (a *account) files() []File {
	return slices.DeleteFunc(slices.Clone(a.w.files), func(f File) bool {
		return !bytes.Contains(bytes.ToLower(f.SQL), []byte("pages:"))
	})
}
