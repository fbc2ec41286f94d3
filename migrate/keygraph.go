package migrate

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"

	"modernc.org/sqlite"

	"github.com/pages-toolchain/pages/migrate/dbfile"
)

// This file tracks the tables in which a file may have broken a foreign key, so that not all rows of a database need a
// check after each file. A key depends on the rows and definitions of its own table and of its parent, and on the
// parent's indexes. SQLite's authorizer reports each table that a statement writes, creates, alters or drops, including
// through triggers and other keys.

// keyGraph has the foreign keys of a database by the names of their tables, which are folded.
type keyGraph struct {
	checked  bool                       // all keys held after the last file, or could not be checked
	parents  map[string][]string        // the tables that a table names
	children map[string]map[string]bool // the tables that refer to a table
	touched  map[string]bool            // by the current file; names in SQLite's spelling
	stale    map[string]bool            // tables whose keys must be read again; likewise
	renamed  bool                       // a table was renamed: keys of any table may have changed
	untold   map[string]bool            // tables with an unchecked key and without a notice yet
}

func newKeyGraph() *keyGraph {
	return &keyGraph{
		parents: map[string][]string{}, children: map[string]map[string]bool{},
		touched: map[string]bool{}, stale: map[string]bool{}, untold: map[string]bool{},
	}
}

// forgetAll resets the graph after another connection's write or a rollback. keyed is false without foreign keys.
func (g *keyGraph) forgetAll(keyed bool) {
	*g = *newKeyGraph()
	g.checked, g.renamed = !keyed, keyed
}

// authorize notes the actions of a statement while SQLite compiles it.
func (g *keyGraph) authorize(action sqlite.AuthorizerActionCode, arg1, arg2 string) {
	if g == nil {
		return
	}
	switch action {
	case sqlite.AuthInsert, sqlite.AuthUpdate, sqlite.AuthDelete:
		g.touched[arg1] = true
	case sqlite.AuthCreateTable, sqlite.AuthCreateVTable, sqlite.AuthCreateView,
		sqlite.AuthDropTable, sqlite.AuthDropVTable, sqlite.AuthDropView:
		g.touched[arg1], g.stale[arg1] = true, true
	case sqlite.AuthAlterTable:
		g.touched[arg2], g.stale[arg2] = true, true
	case sqlite.AuthCreateIndex, sqlite.AuthDropIndex:
		g.touched[arg2] = true // a key needs a unique index of its parent
	default: // changes neither rows nor keys
	}
}

// rename notes the new name of a table, which SQLite does not pass to the authorizer.
func (g *keyGraph) rename(to string) {
	if to != "" {
		g.touched[to], g.renamed = true, true
	}
}

// refresh reads the keys that may have changed.
func (g *keyGraph) refresh(ctx context.Context, db querier) error {
	const keys = `SELECT m.name, k."table" FROM sqlite_schema AS m, pragma_foreign_key_list(m.name) AS k WHERE m.type = 'table'`
	if g.renamed {
		clear(g.parents)
		clear(g.children)
		if err := g.read(ctx, db, keys); err != nil {
			return err
		}
		g.renamed = false
		clear(g.stale)
	}
	for name := range g.stale {
		g.forget(dbfile.FoldName(name))
		if err := g.read(ctx, db, `SELECT ?1, "table" FROM pragma_foreign_key_list(?1)`, name); err != nil {
			return err
		}
		delete(g.stale, name)
	}
	return nil
}

func (g *keyGraph) forget(table string) {
	for _, parent := range g.parents[table] {
		delete(g.children[parent], table)
	}
	delete(g.parents, table)
}

// read adds the keys that a query selects: child table, parent table.
func (g *keyGraph) read(ctx context.Context, db querier, query string, args ...any) error {
	rows, err := db.QueryContext(ctx, query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var child, parent string
		if err := rows.Scan(&child, &parent); err != nil {
			return err
		}
		child, parent = dbfile.FoldName(child), dbfile.FoldName(parent)
		if g.children[parent] == nil {
			g.children[parent] = map[string]bool{}
		}
		if !g.children[parent][child] {
			g.children[parent][child] = true
			g.parents[child] = append(g.parents[child], parent)
		}
	}
	return rows.Err()
}

// suspects lists the tables that may have a row without its parent since the file f, or an unchecked key that f mentions.
func (g *keyGraph) suspects(f File) []string {
	found := map[string]bool{}
	for name := range g.touched {
		name = dbfile.FoldName(name)
		if g.parents[name] != nil {
			found[name] = true
		}
		maps.Copy(found, g.children[name])
	}
	if len(g.untold) > 0 {
		text := bytes.ToLower(f.SQL)
		for name := range g.untold {
			if g.parents[name] != nil && bytes.Contains(text, []byte(strings.ToLower(name))) {
				found[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(found))
}
