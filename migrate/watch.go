package migrate

import (
	"context"
	"errors"
	"maps"
	"sync"
	"unsafe"

	"modernc.org/libc"
	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// This file follows the effect of each statement of a run on rows, by SQLite's preupdate hook and its authorizer. It
// records rowids but no values: at the end, account.go compares the database with the copy from before the run, and lists
// the losses.

// watcher follows the statements of one run on one connection.
type watcher struct {
	handle connection
	tables map[string]*object // existing ones, by folded name, without shadow tables
	before []*object          // that existed before the run, by name
	made   []*object          // that the run made
	vacant map[string]*object // dropped tables, by names that are free now
	// indexed are the statements that created indexes, by the folded names of the indexes.
	indexed map[string]location
	steps   []*step // those that may have changed old rows, copied rows, or changed tables
	files   []File  // that ran
	begun   int     // statements
	now     *step   // the current statement; nil between two
	spare   step    // with the maps of a statement without effect, to reuse: a file may have many

	hooked bool // SQLite reports each row that changes

	name   uintptr // of the table of the last row: C text, which stays as long as the statement runs
	table  *object
	effect *effect
	rows   int64
	err    error
}

// object is one table, under all its names.
type object struct {
	origin  string   // its name before the run; "" for one that the run made
	name    string   // its name now, or its last one
	names   []string // its earlier names
	shape   *tableShape
	columns []trackedColumn  // now
	gone    map[string]*step // columns that were dropped, by their first names
	dropped *step            // the step that dropped it, nil while it exists
	madeBy  *step            // nil for one from before the run
	held    int64            // rows, when it was dropped
	heir    *object          // the new table that took its name

	inserted rowset          // rows that the run inserted
	moved    map[int64]int64 // rows whose rowid changed: old rowid by new one
	keyMoved bool            // the primary key of rows changed
	writes   int64           // rows that the run inserted, also in tables without rowids
}

// trackedColumn is a column with its first name, from before the run or from the creation of its table; "" for a
// column that was added later.
type trackedColumn struct{ origin, name string }

// location is the place of a statement.
type location struct {
	file File
	span span
}

// step is one statement.
type step struct {
	file  File
	span  span
	order int

	deletes  map[*object]bool            // as reported to the authorizer
	updates  map[*object]map[string]bool // names of columns at that time, as they were before the run
	inserts  map[*object]bool
	reads    map[*object]bool
	altered  map[*object]bool
	dropping *object
	held     int64 // rows of the table that it drops
	creates  []string
	schema   bool // tables come, go or change

	effects map[*object]*effect
	moved   map[*object]map[int64]int64 // as they were before the step
}

// effect counts the changes of one statement to the rows of one table from before the run, and the deletions from a
// new table.
type effect struct {
	direct, nested rowset // rows from before the run that were deleted, by the statement itself and by its triggers and keys
	// againDirect and againNested are ids of deleted rows of the run, which may reuse ids of older rows.
	againDirect, againNested rowset
	updated                  rowset
	inserted                 rowset
	// updatedDirect and updatedNested report updates by the statement itself, and by its triggers and keys.
	updatedDirect, updatedNested bool
	// Tables without rowids are only counted.
	deletedDirect, deletedNested, wrote int64
}

func (e *effect) held() int {
	return e.direct.held() + e.nested.held() + e.againDirect.held() + e.againNested.held() + e.updated.held() + e.inserted.held()
}

// Bounds on memory: a row that changes out of the order of its id takes some 50 bytes, a step some 2 kB.
const (
	maxHeld = 4_000_000
	maxKept = 100_000
)

var (
	errTooManyRows  = errors.New("the files change too many rows, in no order, to track")
	errTooManySteps = errors.New("the files have too many statements that change rows to track")
)

// newWatcher reads the tables of a database before it changes.
func newWatcher(ctx context.Context, db querier) (*watcher, error) {
	shapes, err := readShapes(ctx, db, "main")
	if err != nil {
		return nil, databaseError("the schema cannot be read", err)
	}
	w := &watcher{tables: map[string]*object{}, vacant: map[string]*object{}, indexed: map[string]location{}}
	for _, s := range shapes {
		o := &object{origin: s.name, name: s.name, shape: s, gone: map[string]*step{}}
		for _, c := range s.columns {
			o.columns = append(o.columns, trackedColumn{c.name, c.name})
		}
		w.before = append(w.before, o)
		w.tables[dbfile.FoldName(s.name)] = o
	}
	return w, nil
}

// begin starts a statement.
func (w *watcher) begin(ctx context.Context, db querier, f File, s span) error {
	if w == nil {
		return nil
	}
	var held int64
	if o := w.tables[dbfile.FoldName(droppedTable(string(f.SQL[s.start:s.end])))]; o != nil {
		if err := db.QueryRowContext(ctx, "SELECT count(*) FROM "+dbfile.QuoteName(o.name)).Scan(&held); err != nil {
			return err
		}
	}
	if n := len(w.files); n == 0 || w.files[n-1].Name != f.Name {
		w.files = append(w.files, f)
	}
	w.begun++
	w.now = w.spare.next(f, s)
	w.now.held, w.now.order = held, w.begun
	w.name, w.table, w.effect = 0, nil, nil
	return w.truncate(ctx, db, string(f.SQL[s.start:s.end]))
}

// end adds the effects of the statement, or drops them if it failed, since SQLite has undone it.
func (w *watcher) end(ctx context.Context, db querier, failed bool) error {
	if w == nil || w.err != nil {
		return w.failure()
	}
	if !w.hooked {
		w.setHook(true)
	}
	s := w.now
	w.now = nil
	if failed {
		for o, moved := range s.moved {
			o.moved = moved
		}
		return nil
	}
	for o, e := range s.effects {
		o.inserted.addAll(&e.inserted)
		o.writes += e.wrote
	}
	w.spare = *s
	if s.counts() {
		if len(w.steps) == maxKept {
			w.err = errTooManySteps
			return w.err
		}
		w.steps = append(w.steps, s)
		w.spare = step{}
	}
	if s.schema {
		return w.refresh(ctx, db, s)
	}
	return nil
}

// next returns a step, with the maps of one that is no longer needed.
func (s *step) next(f File, at span) *step {
	clear(s.deletes)
	clear(s.updates)
	clear(s.inserts)
	clear(s.reads)
	clear(s.altered)
	clear(s.effects)
	return &step{
		file: f, span: at, deletes: s.deletes, updates: s.updates, inserts: s.inserts, reads: s.reads, altered: s.altered,
		effects: s.effects,
	}
}

// counts reports whether a statement did more than insert rows of literal values; a file may have many of those.
func (s *step) counts() bool {
	if s.schema || len(s.inserts) > 0 && len(s.reads) > 0 {
		return true
	}
	for _, set := range []map[*object]bool{s.inserts, s.deletes} {
		for o := range set {
			if o.shape != nil && o.shape.virtual { // SQLite does not report its rows
				return true
			}
		}
	}
	for _, e := range s.effects {
		if e.updatedDirect || e.updatedNested ||
			e.direct.members+e.nested.members+e.againDirect.members+e.againNested.members+e.deletedDirect+e.deletedNested > 0 {
			return true
		}
	}
	return false
}

// note adds an object to a set, which may be nil.
func note(set *map[*object]bool, o *object) {
	if *set == nil {
		*set = map[*object]bool{}
	}
	(*set)[o] = true
}

// failure returns the error that ends the run.
func (w *watcher) failure() error {
	if w == nil {
		return nil
	}
	return w.err
}

// authorize notes the actions of a statement while SQLite compiles it.
func (w *watcher) authorize(action sqlite.AuthorizerActionCode, arg1, arg2 string) {
	if w == nil || w.now == nil {
		return
	}
	s := w.now
	switch action {
	case sqlite.AuthDelete, sqlite.AuthInsert, sqlite.AuthUpdate:
		o := w.tables[dbfile.FoldName(arg1)]
		if o == nil {
			return
		}
		switch action {
		case sqlite.AuthDelete:
			note(&s.deletes, o)
		case sqlite.AuthInsert:
			note(&s.inserts, o)
		default:
			if s.updates == nil {
				s.updates = map[*object]map[string]bool{}
			}
			if s.updates[o] == nil {
				s.updates[o] = map[string]bool{}
			}
			s.updates[o][o.originOf(arg2)] = true
		}
	case sqlite.AuthRead:
		if o := w.tables[dbfile.FoldName(arg1)]; o != nil {
			note(&s.reads, o)
		}
	case sqlite.AuthDropTable, sqlite.AuthDropVTable:
		s.schema = true
		if o := w.tables[dbfile.FoldName(arg1)]; o != nil { // otherwise a shadow table
			s.dropping = o
		}
	case sqlite.AuthAlterTable:
		s.schema = true
		if o := w.tables[dbfile.FoldName(arg2)]; o != nil {
			note(&s.altered, o)
		}
	case sqlite.AuthCreateTable, sqlite.AuthCreateVTable:
		s.creates, s.schema = append(s.creates, arg1), true
	case sqlite.AuthCreateIndex:
		w.indexed[dbfile.FoldName(arg1)] = location{s.file, s.span}
	case sqlite.AuthDropIndex:
		delete(w.indexed, dbfile.FoldName(arg1))
	default: // changes no rows and no tables
	}
}

// originOf returns the name that a column had before the run; "" for one that the run made.
func (o *object) originOf(column string) string {
	for _, c := range o.columns {
		if dbfile.SameName(c.name, column) {
			return c.origin
		}
	}
	return ""
}

// nameOf returns the current name of a column from before the run; "" if it was dropped.
func (o *object) nameOf(origin string) string {
	for _, c := range o.columns {
		if c.origin == origin {
			return c.name
		}
	}
	return ""
}

// refresh follows a statement's changes of tables.
func (w *watcher) refresh(ctx context.Context, db querier, s *step) error {
	const what = "the schema cannot be read"
	for _, name := range s.creates {
		if w.tables[dbfile.FoldName(name)] != nil {
			continue
		}
		o := &object{name: name, madeBy: s, gone: map[string]*step{}}
		names, err := columnNames(ctx, db, name)
		if err != nil {
			return databaseError(what, err)
		}
		for _, c := range names {
			o.columns = append(o.columns, trackedColumn{c, c})
		}
		w.made = append(w.made, o)
		w.call(o, name)
	}
	if o := s.dropping; o != nil {
		o.dropped, o.held = s, s.held
		delete(w.tables, dbfile.FoldName(o.name))
		w.bequeath(o)
	}
	for o := range s.altered {
		names, err := columnNames(ctx, db, o.name)
		if err == nil && len(names) == 0 { // without columns, the table has another name now
			delete(w.tables, dbfile.FoldName(o.name))
			o.names = append(o.names, o.name)
			w.call(o, renameTarget(string(s.file.SQL[s.span.start:s.span.end])))
			names, err = columnNames(ctx, db, o.name)
		}
		if err != nil {
			return databaseError(what, err)
		}
		o.follow(names, s)
	}
	return nil
}

// call names a table. A table of the run replaces a dropped one of that name.
func (w *watcher) call(o *object, name string) {
	key := dbfile.FoldName(name)
	o.name = name
	w.tables[key] = o
	if gone := w.vacant[key]; gone != nil && o.origin == "" {
		w.inherit(gone, o)
	}
	delete(w.vacant, key)
}

// bequeath makes a table of the run with a former name of a dropped table its successor, or waits for one.
func (w *watcher) bequeath(o *object) {
	for _, name := range append([]string{o.name}, o.names...) {
		switch other := w.tables[dbfile.FoldName(name)]; {
		case other == nil:
			w.vacant[dbfile.FoldName(name)] = o
		case other.origin == "" && o.heir == nil:
			w.inherit(o, other)
		}
	}
}

func (w *watcher) inherit(gone, heir *object) {
	gone.heir = heir
	maps.DeleteFunc(w.vacant, func(_ string, o *object) bool { return o == gone })
}

// follow compares the columns of a table with those before ALTER TABLE, which changes one at a time.
func (o *object) follow(names []string, s *step) {
	old := o.columns
	o.columns = nil
	lose := func(c trackedColumn) {
		if c.origin != "" {
			o.gone[c.origin] = s
		}
	}
	for _, name := range names {
		if len(old) == 0 { // added
			o.columns = append(o.columns, trackedColumn{"", name})
			continue
		}
		if old[0].name != name && len(names) < len(o.columns)+len(old) { // dropped
			lose(old[0])
			old = old[1:]
		}
		o.columns = append(o.columns, trackedColumn{old[0].origin, name})
		old = old[1:]
	}
	for _, c := range old {
		lose(c)
	}
}

// watchers are the watchers with an installed hook, by the handle of their connection.
var watchers sync.Map

type preupdateFunc = func(tls *libc.TLS, argument, handle uintptr, op int32, database, table uintptr, old, id int64)

// preupdateC is the hook as the translated C calls it.
var preupdateC = *(*uintptr)(unsafe.Pointer(&struct{ f preupdateFunc }{preupdate}))

func preupdate(tls *libc.TLS, _, handle uintptr, op int32, _, table uintptr, old, id int64) {
	found, _ := watchers.Load(handle)
	if w, ok := found.(*watcher); ok {
		w.row(tls, op, table, old, id)
	}
}

// watch runs fn and reports each row that the connection changes to w.
func (w *watcher) watch(handle connection, fn func() error) error {
	if w == nil {
		return fn()
	}
	w.handle = handle
	watchers.Store(uintptr(handle), w)
	w.setHook(true)
	defer func() {
		w.setHook(false)
		watchers.Delete(uintptr(handle))
	}()
	return fn()
}

// row notes one row that is about to change, in the table that SQLite names.
func (w *watcher) row(tls *libc.TLS, op int32, table uintptr, old, id int64) {
	s := w.now
	if s == nil {
		return
	}
	if table != w.name || table == 0 {
		w.name, w.table, w.effect = table, w.tables[dbfile.FoldName(libc.GoString(table))], nil
		if w.table != nil {
			w.effect = w.effectOn(w.table)
		}
	}
	o, e := w.table, w.effect
	if o == nil || o == s.dropping {
		return
	}
	if w.rows++; w.rows%4096 == 0 && w.full(o, e) {
		w.now = nil
		sqlite3.Xsqlite3_interrupt(tls, uintptr(w.handle))
		return
	}
	switch {
	case op == sqlite3.SQLITE_DELETE:
		w.deleted(o, e, old, sqlite3.Xsqlite3_preupdate_depth(tls, uintptr(w.handle)) > 0)
	case o.origin == "":
	case op == sqlite3.SQLITE_INSERT:
		e.wrote++
		if !o.shape.withoutRowid {
			e.inserted.add(id)
		}
	default:
		nested := sqlite3.Xsqlite3_preupdate_depth(tls, uintptr(w.handle)) > 0
		e.updatedNested, e.updatedDirect = e.updatedNested || nested, e.updatedDirect || !nested
		if o.shape.withoutRowid {
			return
		}
		if old != id {
			w.move(o, e, old, id)
		}
		e.updated.add(id)
	}
}

// full reports whether the records of one table exceed the bound, and then ends the run.
func (w *watcher) full(o *object, e *effect) bool {
	if e.held()+o.inserted.held()+len(o.moved) > maxHeld {
		w.err = errTooManyRows
	}
	return w.err != nil
}

// effectOn returns the effect of the current statement on a table.
func (w *watcher) effectOn(o *object) *effect {
	s := w.now
	if s.effects == nil {
		s.effects = map[*object]*effect{}
	}
	if s.effects[o] == nil {
		s.effects[o] = &effect{}
	}
	return s.effects[o]
}

func (w *watcher) deleted(o *object, e *effect, id int64, nested bool) {
	switch {
	case o.origin != "" && o.shape.withoutRowid && nested:
		e.deletedNested++
		return
	case o.origin != "" && o.shape.withoutRowid:
		e.deletedDirect++
		return
	}
	if before, moved := o.moved[id]; moved {
		w.keepMoved(o)
		delete(o.moved, id)
		id = before
	} else if o.origin != "" && (e.inserted.has(id) || o.inserted.has(id)) {
		if nested {
			e.againNested.add(id)
		} else {
			e.againDirect.add(id)
		}
		return
	}
	if nested {
		e.nested.add(id)
		return
	}
	e.direct.add(id)
}

// move notes a changed rowid.
func (w *watcher) move(o *object, e *effect, old, id int64) {
	w.keepMoved(o)
	o.keyMoved = true
	before, moved := o.moved[old]
	if moved {
		delete(o.moved, old)
	} else if e.inserted.has(old) || o.inserted.has(old) {
		e.inserted.add(id)
		return
	} else {
		before = old
	}
	if o.moved == nil {
		o.moved = map[int64]int64{}
	}
	o.moved[id] = before
}

// keepMoved saves an object's state before the statement, which may fail.
func (w *watcher) keepMoved(o *object) {
	if _, kept := w.now.moved[o]; !kept {
		if w.now.moved == nil {
			w.now.moved = map[*object]map[int64]int64{}
		}
		w.now.moved[o] = maps.Clone(o.moved)
	}
}
