package migrate

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"strings"

	"modernc.org/sqlite"
)

// This file is the authorizer of migrations. SQLite asks it about every operation while it compiles a statement, so
// the spelling of the statement does not matter.

// pragmas are the allowed ones: they read, last until the end of the transaction, or are reset after the file. True
// allows a value.
var pragmas = map[string]bool{
	"defer_foreign_keys": true,
	"foreign_key_check":  true,
	"foreign_key_list":   true,
	"table_info":         true,
	"table_xinfo":        true,
	"table_list":         true,
	"index_list":         true,
	"index_info":         true,
	"index_xinfo":        true,
	"quick_check":        true,
	"optimize":           true,
	"user_version":       false,
	"data_version":       false, // fts5 uses it
	"page_size":          false, // rtree uses it
}

// settings are pragmas with ON or OFF that last for a connection. All but the first take effect, as on the platform's
// databases; restoreSettings resets them.
var settings = map[string]bool{
	"foreign_keys":             true, // without effect in a transaction
	"ignore_check_constraints": true, "legacy_alter_table": true, "recursive_triggers": true,
	"reverse_unordered_selects": true, "case_sensitive_like": true,
}

const restoreSettings = `PRAGMA ignore_check_constraints = OFF; PRAGMA legacy_alter_table = OFF;
PRAGMA recursive_triggers = OFF; PRAGMA reverse_unordered_selects = OFF; PRAGMA case_sensitive_like = OFF`

var forbiddenFunctions = map[string]bool{
	"load_extension": true,
	"readfile":       true,
	"writefile":      true,
	"edit":           true,
	"fts3_tokenizer": true,
}

// virtualTables are the modules of the platform's databases.
var virtualTables = map[string]bool{"fts5": true, "fts5vocab": true, "rtree": true, "rtree_i32": true}

// hiddenTables are modules that expose the pages of all tables. The platform's databases lack them.
var hiddenTables = map[string]bool{"sqlite_dbpage": true, "dbstat": true}

// ownPrefixes begin the names of the platform's own tables: the ledger, and those of production, to which no Worker may
// write.
var ownPrefixes = [...]string{ledgerPrefix, "_cf_"}

const ledgerPrefix = "_pages_"

// refusal is the reason for refusing an operation; the zero value allows it.
type refusal struct{ code, msg, fix string }

func judgeAction(action sqlite.AuthorizerActionCode, arg1, arg2, database string) refusal {
	if hiddenTables[strings.ToLower(arg1)] {
		return refusal{
			CodeModule, `the table "` + arg1 + `" is not available`,
			"remove the statement: a migration works on tables, not on the pages of the file",
		}
	}
	switch action {
	case sqlite.AuthRead, sqlite.AuthSelect, sqlite.AuthRecursive, sqlite.AuthAnalyze, sqlite.AuthReindex:
		return refusal{}
	case sqlite.AuthTransaction, sqlite.AuthSavepoint:
		return refusal{
			CodeStatementForbidden, "a migration must not begin or end a transaction",
			"remove the statement: each file already runs in one transaction, and a failure rolls it back",
		}
	case sqlite.AuthAttach, sqlite.AuthDetach:
		return refusal{
			CodeAttach, "a migration must not attach or detach a database",
			"remove the statement: a site has one database; to bring data in, write INSERT statements, or pages db import",
		}
	case sqlite.AuthPragma:
		return judgePragma(strings.ToLower(arg1), arg2)
	case sqlite.AuthFunction:
		if forbiddenFunctions[strings.ToLower(arg2)] {
			return refusal{
				CodeFunction, `a migration must not use the function "` + arg2 + `"`,
				"remove the call: a migration works on the database only, not on files",
			}
		}
		return refusal{}
	case sqlite.AuthCreateTempTable, sqlite.AuthCreateTempView, sqlite.AuthCreateTempTrigger, sqlite.AuthCreateTempIndex:
		return temporary
	case sqlite.AuthCreateTable, sqlite.AuthCreateView, sqlite.AuthCreateTrigger, sqlite.AuthCreateIndex:
		if strings.EqualFold(database, "temp") {
			return temporary
		}
	case sqlite.AuthCreateVTable:
		if !virtualTables[strings.ToLower(arg2)] {
			return refusal{
				CodeModule, `the virtual table module "` + arg2 + `" is not available`,
				`use "fts5", "fts5vocab", "rtree" or "rtree_i32"`,
			}
		}
	default: // creates, changes or drops the object of the arguments
	}
	return judgePrefix(cmp.Or(ownPrefix(arg1), ownPrefix(arg2)))
}

var temporary = refusal{
	CodeTemporary, "a migration must not create temporary objects",
	"create an ordinary table and drop it at the end of the file",
}

// judgePrefix refuses a name that begins with one of ownPrefixes; "" is another name.
func judgePrefix(prefix string) refusal {
	msg := `names that begin with "` + prefix + `" belong to the platform`
	switch prefix {
	case "":
		return refusal{}
	case ledgerPrefix:
		return refusal{CodeLedger, msg, "use another name, and leave these tables alone; pages migrate repair corrects the ledger"}
	default:
		return refusal{CodeLedger, msg, "use another name"}
	}
}

func judgePragma(name, value string) refusal {
	writable, known := pragmas[name]
	switch {
	case known && (writable || value == ""):
		return refusal{}
	case known:
		return refusal{CodePragma, `PRAGMA "` + name + `" must not be set in a migration`, "remove the statement"}
	case settings[name] && (value == "" || isSwitch(value)):
		return refusal{}
	case settings[name]:
		return refusal{CodePragma, `PRAGMA "` + name + `" takes ON or OFF`, "write one of them"}
	default:
		return refusal{
			CodePragma, `PRAGMA "` + name + `" is not allowed in a migration`,
			"remove the statement: the platform configures its databases itself",
		}
	}
}

// isSwitch reports whether a pragma's value is one of SQLite's words for ON and OFF.
func isSwitch(value string) bool {
	switch strings.ToLower(strings.Trim(value, `'"`)) {
	case "on", "yes", "true", "1", "off", "no", "false", "0":
		return true
	}
	return false
}

// ownPrefix returns the one of ownPrefixes with which a name begins; "" for none.
func ownPrefix(name string) string {
	for _, prefix := range ownPrefixes {
		if len(name) >= len(prefix) && strings.EqualFold(name[:len(prefix)], prefix) {
			return prefix
		}
	}
	return ""
}

var errNoAuthorizer = errors.New("the database driver has no authorizer")

// guard records the authorizer's verdicts on the statement that SQLite compiles.
type guard struct {
	refused refusal // the refusal of the last statement
	set     bool    // a statement changed one of settings
	keys    string  // the value that it gave to PRAGMA foreign_keys; "" for none
}

// listeners get the allowed actions; each may be nil.
type listeners struct {
	watch *watcher
	keys  *keyGraph
}

// withGuard runs fn while conn, whose handle is c, refuses statements that a migration may not run, and has the platform's limits.
func withGuard(ctx context.Context, conn *sql.Conn, c connection, l listeners, fn func(ctx context.Context, g *guard) error) error {
	restore, err := limitConn(conn)
	if err != nil {
		return err
	}
	g := &guard{}
	authorize := func(action sqlite.AuthorizerActionCode, arg1, arg2, database, _ string) sqlite.AuthorizerReturnCode {
		r := judgeAction(action, arg1, arg2, database)
		if r.msg != "" {
			g.refused = r
			return sqlite.AuthorizerDeny
		}
		if action == sqlite.AuthPragma && arg2 != "" {
			name := strings.ToLower(arg1)
			g.set = g.set || settings[name]
			if name == "foreign_keys" {
				g.keys = arg2
			}
		}
		l.watch.authorize(action, arg1, arg2)
		l.keys.authorize(action, arg1, arg2)
		return sqlite.AuthorizerOK
	}
	if err := setAuthorizer(conn, authorize); err != nil {
		return errors.Join(err, restore())
	}
	// Only fts5 and rtree may write to the tables of their trees: their C code trusts these bytes.
	c.setDefensive(true)
	err = l.watch.watch(c, func() error { return fn(ctx, g) })
	c.setDefensive(false)
	off := errors.Join(setAuthorizer(conn, nil), restore())
	if g.set {
		_, restored := conn.ExecContext(context.WithoutCancel(ctx), restoreSettings)
		off = errors.Join(off, restored)
	}
	if err == nil {
		err = off
	}
	return err
}

func setAuthorizer(conn *sql.Conn, fn sqlite.AuthorizerFn) error {
	return conn.Raw(func(driverConn any) error {
		r, ok := driverConn.(sqlite.AuthorizerRegisterer)
		if !ok {
			return errNoAuthorizer
		}
		return r.RegisterAuthorizer(fn)
	})
}
