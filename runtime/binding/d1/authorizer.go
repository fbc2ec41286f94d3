package d1

import (
	"strconv"
	"strings"
	"unicode/utf8"

	"modernc.org/sqlite"
)

// authorizer decides about each operation of a statement while SQLite compiles it. It refuses the operations that D1 refuses, and all
// that could access another file or the platform's own tables.
type authorizer struct {
	// trusted is set while the connection runs a statement of our own.
	trusted bool
	// platform allows the platform's own tables, for reading a dump back.
	platform bool
	// author words a refusal for SQL that the author typed.
	author bool
	// only has the names of the only tables and views to read, nil for all, and tables all names of the database; in lower case.
	only, tables map[string]bool
	// text is the SQL being compiled, reason the reason for its refusal.
	text, reason string
	// inside is the view or trigger with the refused operation, "" for the text itself.
	inside string
	// use lists the objects that the current statement reads and writes.
	use sqlUse
	// changed is set once a statement changes a setting of the connection.
	changed bool
}

type pragmaArgument int

const (
	pragmaNothing      pragmaArgument = iota
	pragmaBoolean                     // or nothing, to read it
	pragmaObject                      // the name of a table or an index
	pragmaMaybeObject                 // or nothing
	pragmaMaybeNumber                 // or nothing
	pragmaCountOrTable                // or nothing
)

var workerPragmas = map[string]pragmaArgument{
	"table_list": pragmaMaybeObject, "table_info": pragmaObject, "table_xinfo": pragmaObject,
	"index_list": pragmaObject, "index_info": pragmaObject, "index_xinfo": pragmaObject,
	"foreign_key_list": pragmaObject, "foreign_key_check": pragmaMaybeObject,
	"quick_check": pragmaCountOrTable, "optimize": pragmaMaybeNumber,
	"data_version": pragmaNothing, "page_size": pragmaNothing,
	"foreign_keys": pragmaBoolean, "defer_foreign_keys": pragmaBoolean,
	"ignore_check_constraints": pragmaBoolean, "legacy_alter_table": pragmaBoolean,
	"recursive_triggers": pragmaBoolean, "reverse_unordered_selects": pragmaBoolean, "case_sensitive_like": pragmaBoolean,
}

func (p pragmaArgument) takes(value string) bool {
	switch p {
	case pragmaNothing:
		return value == ""
	case pragmaBoolean:
		switch strings.ToLower(strings.Trim(value, `'"`)) {
		case "", "true", "false", "yes", "no", "on", "off", "1", "0":
			return true
		}
		return false
	case pragmaObject:
		return value != ""
	case pragmaMaybeNumber:
		_, err := strconv.ParseInt(value, 0, 32)
		return value == "" || err == nil
	default:
		return true
	}
}

// workerSettings resets the settings that workerPragmas may change, for the next user of the connection.
const workerSettings = `PRAGMA foreign_keys=ON; PRAGMA ignore_check_constraints=OFF; PRAGMA legacy_alter_table=OFF;
PRAGMA recursive_triggers=OFF; PRAGMA reverse_unordered_selects=OFF; PRAGMA case_sensitive_like=OFF`

// workerFunctions are the functions that D1 allows: a new function of SQLite is refused here until
// D1 allows it.
var workerFunctions = setOf(`
	abs changes char coalesce concat concat_ws format glob hex ifnull iif instr last_insert_rowid length like likelihood
	likely lower ltrim max_scalar min_scalar nullif octet_length printf quote random randomblob replace round rtrim
	sign substr substring total_changes trim typeof unhex unicode unlikely upper zeroblob
	date time datetime julianday unixepoch strftime timediff current_date current_time current_timestamp
	avg count group_concat max min string_agg sum total
	row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
	acos acosh asin asinh atan atan2 atanh ceil cos cosh degrees exp floor ln log log2 mod pi pow radians sin sinh sqrt
	tan tanh trunc
	json jsonb json_array jsonb_array json_array_length json_extract jsonb_extract -> ->> json_insert jsonb_insert
	json_object jsonb_object json_patch jsonb_patch json_remove jsonb_remove json_replace jsonb_replace json_set jsonb_set
	json_type json_valid json_quote json_group_array jsonb_group_array json_group_object jsonb_group_object
	json_each json_tree
	match highlight bm25 snippet rtreecheck
	sqlite_rename_column sqlite_rename_table sqlite_rename_test sqlite_drop_column sqlite_rename_quotefix`)

// hiddenTables are modules that expose the pages of all tables. D1 lacks them.
var hiddenTables = setOf("sqlite_dbpage dbstat")

func setOf(words string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(words) {
		set[word] = true
	}
	return set
}

var workerModules = map[string]bool{"fts5": true, "fts5vocab": true, "rtree": true, "rtree_i32": true}

// reservedPrefixes begin the names of tables of this platform and of production. A Worker may read those tables, as it may
// read D1's own ledger.
var reservedPrefixes = [...]string{"_pages_", "_cf_"}

// authorize is SQLite's callback. inside is the view or trigger of the operation: one from a migration may have operations that a
// Worker may not run.
func (g *authorizer) authorize(action sqlite.AuthorizerActionCode, arg1, arg2, schema, inside string) sqlite.AuthorizerReturnCode {
	if g.trusted {
		return sqlite.AuthorizerOK
	}
	if reason := g.verdict(action, arg1, arg2, schema); reason != "" {
		g.reason, g.inside = reason, inside
		return sqlite.AuthorizerDeny
	}
	g.use.note(action, arg1, arg2)
	return sqlite.AuthorizerOK
}

// verdict returns the reason for refusing an operation; "" allows it.
func (g *authorizer) verdict(action sqlite.AuthorizerActionCode, arg1, arg2, schema string) string {
	switch action {
	case sqlite.AuthRead:
		// A name without a column may be that of a common table expression: SELECT count(*) FROM it.
		if name := strings.ToLower(arg1); g.only != nil && !g.only[name] && (arg2 != "" || g.tables[name]) {
			return unavailable(arg1)
		}
		return hiddenTable(arg1)
	case sqlite.AuthSelect, sqlite.AuthRecursive, sqlite.AuthAnalyze, sqlite.AuthReindex:
		return ""
	case sqlite.AuthTransaction, sqlite.AuthSavepoint:
		if g.author {
			return "it is in a transaction of its own already; leave BEGIN, COMMIT, ROLLBACK and SAVEPOINT out"
		}
		return "a Worker's SQL cannot begin or end a transaction; put the statements into one batch(), which is a transaction"
	case sqlite.AuthAttach, sqlite.AuthDetach:
		return "other databases cannot be attached, nor this one copied"
	case sqlite.AuthPragma:
		name := strings.ToLower(arg1)
		argument, known := workerPragmas[name]
		if g.only != nil || !known || !argument.takes(arg2) || strings.EqualFold(schema, "temp") {
			return `PRAGMA "` + name + `" is not available`
		}
		g.changed = g.changed || arg2 != ""
		return ""
	case sqlite.AuthFunction:
		if !g.platform && !workerFunctions[strings.ToLower(arg2)] {
			return `the function "` + arg2 + `" is not available`
		}
		return ""
	case sqlite.AuthCreateTempTable, sqlite.AuthCreateTempView, sqlite.AuthCreateTempTrigger, sqlite.AuthCreateTempIndex:
		return "temporary tables, views, triggers and indexes are not available"
	case sqlite.AuthCreateVTable:
		if !workerModules[strings.ToLower(arg2)] {
			return `the virtual table module "` + arg2 + `" is not available`
		}
	case sqlite.AuthAlterTable: // has the old name of the table, not the new one
		arg1, arg2 = arg2, g.reservedNewName()
	default: // creates, changes or drops the object of the arguments
	}
	if prefix := reservedPrefix(arg1) + reservedPrefix(arg2); !g.platform && prefix != "" {
		return `names that begin with "` + prefix + `" belong to the platform`
	}
	return hiddenTable(arg1)
}

// hiddenTable returns the reason why a table cannot be read; "" allows it.
func hiddenTable(table string) string {
	if hiddenTables[strings.ToLower(table)] {
		return unavailable(table)
	}
	return ""
}

func unavailable(table string) string { return `the table "` + table + `" is not available` }

// reservedNewName finds a reserved name in the text of an ALTER TABLE: the authorizer does not get the new name.
func (g *authorizer) reservedNewName() string {
	words := strings.FieldsFunc(g.text, func(r rune) bool {
		return r != '_' && r != '$' && r < utf8.RuneSelf && !('0' <= r && r <= '9' || 'a' <= r|0x20 && r|0x20 <= 'z')
	})
	for _, word := range words {
		if reservedPrefix(word) != "" {
			return word
		}
	}
	return ""
}

// reservedPrefix is the reserved prefix that name begins with, "" for none.
func reservedPrefix(name string) string {
	for _, prefix := range reservedPrefixes {
		if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
			return prefix
		}
	}
	return ""
}
