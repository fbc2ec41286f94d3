package runtime

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding"
)

// This file says which name was meant by one that is in no database of the Worker's.

var (
	noTable  = regexp.MustCompile(`: no such table: (?:main\.)?([\w$]+)`)
	noColumn = regexp.MustCompile(`: (?:no such column: (?:\w+\.)*|table \w+ has no column named )([\w$]+)`)
)

const (
	// namesTime bounds the look into databases, which a writer may hold.
	namesTime = 200 * time.Millisecond
	// mostNames is how many tables are listed where none is near.
	mostNames = 8
)

// adviceOnSQL is for a message of SQLite's about a name.
func adviceOnSQL(ctx context.Context, set *binding.Set, message string) string {
	table, column := noTable.FindStringSubmatch(message), noColumn.FindStringSubmatch(message)
	if table == nil && column == nil {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, namesTime)
	defer cancel()
	var tables, columns []string
	for _, name := range slices.Sorted(maps.Keys(set.D1)) {
		of := set.D1[name].Tables(ctx)
		tables = append(tables, of.Names...)
		columns = append(columns, of.Columns...)
	}
	switch {
	case column != nil:
		return meant(column[1], columns)
	case len(tables) == 0:
		return `nothing made a table yet: migrations do, in the folder that "migrations" under bindings.database names`
	case meant(table[1], tables) == "" && len(tables) <= mostNames:
		return "what is there: " + strings.Join(tables, ", ")
	}
	return meant(table[1], tables)
}

// meant asks for the name that is one without an end, in another case, or with its letters in another order.
func meant(name string, names []string) string {
	letters := func(s string) string {
		b := []byte(strings.ToLower(s))
		slices.Sort(b)
		return string(b)
	}
	for _, other := range names {
		a, b := strings.ToLower(name), strings.ToLower(other)
		if a != b && (strings.HasPrefix(a, b) || strings.HasPrefix(b, a) || letters(a) == letters(b)) {
			return "did you mean " + other + "?"
		}
	}
	return ""
}
