package binding

import (
	"strings"

	"modernc.org/sqlite"
)

// databaseGuard is the authorizer of a Worker's connection: SQLite asks it
// about each operation while it compiles a statement. What it refuses is what
// D1 refuses, and whatever could reach another file or the platform's own
// tables.
type databaseGuard struct {
	// trusted is set while the connection runs a statement of our own.
	trusted bool
	// platform lets a dump be read back, which holds the platform's own tables.
	platform bool
	// author words a refusal for the author's own hand.
	author bool
	// reason says why the last statement was refused.
	reason string
	// changed is set once a statement changes a setting of the connection.
	changed bool
}

// workerPragmas are D1's. True means that a value may be given.
var workerPragmas = map[string]bool{
	"table_list": true, "table_info": true, "table_xinfo": true,
	"index_list": true, "index_info": true, "index_xinfo": true,
	"foreign_key_list": true, "foreign_key_check": true,
	"quick_check": true, "optimize": true,
	"data_version": false, "page_size": false,
	"foreign_keys": true, "defer_foreign_keys": true,
	"ignore_check_constraints": true, "legacy_alter_table": true,
	"recursive_triggers": true, "reverse_unordered_selects": true, "case_sensitive_like": true,
}

// workerSettings puts back what the pragmas above may change for the next
// user of the connection.
const workerSettings = `PRAGMA foreign_keys=ON; PRAGMA ignore_check_constraints=OFF; PRAGMA legacy_alter_table=OFF;
PRAGMA recursive_triggers=OFF; PRAGMA reverse_unordered_selects=OFF; PRAGMA case_sensitive_like=OFF`

var refusedFunctions = map[string]bool{
	"load_extension": true, "readfile": true, "writefile": true, "edit": true, "fts3_tokenizer": true,
	"sqlite_version": true, "sqlite_source_id": true, "sqlite_compileoption_get": true, "sqlite_compileoption_used": true,
}

var workerModules = map[string]bool{"fts5": true, "fts5vocab": true, "rtree": true, "rtree_i32": true}

// platformPrefix begins the names of the platform's own tables.
const platformPrefix = "_pages_"

func (g *databaseGuard) begin() { g.reason = "" }

func (g *databaseGuard) authorize(action sqlite.AuthorizerActionCode, arg1, arg2, _, _ string) sqlite.AuthorizerReturnCode {
	if g.trusted {
		return sqlite.AuthorizerOK
	}
	if reason := g.verdict(action, arg1, arg2); reason != "" {
		g.reason = reason
		return sqlite.AuthorizerDeny
	}
	return sqlite.AuthorizerOK
}

// verdict says why an operation is refused; "" allows it.
func (g *databaseGuard) verdict(action sqlite.AuthorizerActionCode, arg1, arg2 string) string {
	switch action {
	case sqlite.AuthRead, sqlite.AuthSelect, sqlite.AuthRecursive, sqlite.AuthAnalyze, sqlite.AuthReindex:
		return ""
	case sqlite.AuthTransaction, sqlite.AuthSavepoint:
		if g.author {
			return "it is in a transaction of its own already; leave BEGIN, COMMIT, ROLLBACK and SAVEPOINT out"
		}
		return "a Worker's SQL cannot begin or end a transaction; put the statements into one batch(), which is a transaction"
	case sqlite.AuthAttach, sqlite.AuthDetach:
		return "other databases cannot be attached, nor this one copied"
	case sqlite.AuthPragma:
		return g.pragma(strings.ToLower(arg1), arg2)
	case sqlite.AuthFunction:
		if refusedFunctions[strings.ToLower(arg2)] {
			return `the function "` + arg2 + `" is not available`
		}
		return ""
	case sqlite.AuthCreateTempTable, sqlite.AuthCreateTempView, sqlite.AuthCreateTempTrigger, sqlite.AuthCreateTempIndex:
		return "temporary tables, views, triggers and indexes are not available"
	case sqlite.AuthCreateVTable:
		if !workerModules[strings.ToLower(arg2)] {
			return `the virtual table module "` + arg2 + `" is not available`
		}
	default: // creates, changes or drops what the arguments name
	}
	if !g.platform && (ofPlatform(arg1) || ofPlatform(arg2)) {
		return `names that begin with "` + platformPrefix + `" belong to the platform`
	}
	return ""
}

func (g *databaseGuard) pragma(name, value string) string {
	writable, known := workerPragmas[name]
	if !known || value != "" && !writable {
		return `PRAGMA "` + name + `" is not available`
	}
	g.changed = g.changed || value != ""
	return ""
}

func ofPlatform(name string) bool {
	return len(name) >= len(platformPrefix) && strings.EqualFold(name[:len(platformPrefix)], platformPrefix)
}
