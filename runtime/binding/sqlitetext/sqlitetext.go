// Package sqlitetext words failures of SQLite like Cloudflare: the message, and the name of the result code.
//
// Pure and safe for concurrent use.
package sqlitetext

import (
	"fmt"

	"modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// Of words an error with Format.
func Of(e *sqlite.Error) string { return Format(e.Code(), e.Error(), -1) }

// Format words a failure like D1: the message, the byte of the SQL that it is about (none below 0), and the
// name of the extended result code.
func Format(code int, message string, offset int) string {
	at := ""
	if offset >= 0 {
		at = fmt.Sprintf(" at offset %d", offset)
	}
	name := codes[code&0xff]
	if name == "" {
		name = "SQLITE_ERROR"
	}
	if extended := extendedCodes[code]; extended != "" {
		name += " (extended: " + extended + ")"
	}
	return message + at + ": " + name
}

var codes = map[int]string{
	sqlite3.SQLITE_ERROR: "SQLITE_ERROR", sqlite3.SQLITE_INTERNAL: "SQLITE_INTERNAL", sqlite3.SQLITE_PERM: "SQLITE_PERM",
	sqlite3.SQLITE_ABORT: "SQLITE_ABORT", sqlite3.SQLITE_BUSY: "SQLITE_BUSY", sqlite3.SQLITE_LOCKED: "SQLITE_LOCKED",
	sqlite3.SQLITE_NOMEM: "SQLITE_NOMEM", sqlite3.SQLITE_READONLY: "SQLITE_READONLY", sqlite3.SQLITE_INTERRUPT: "SQLITE_INTERRUPT",
	sqlite3.SQLITE_IOERR: "SQLITE_IOERR", sqlite3.SQLITE_CORRUPT: "SQLITE_CORRUPT", sqlite3.SQLITE_FULL: "SQLITE_FULL",
	sqlite3.SQLITE_CANTOPEN: "SQLITE_CANTOPEN", sqlite3.SQLITE_SCHEMA: "SQLITE_SCHEMA", sqlite3.SQLITE_TOOBIG: "SQLITE_TOOBIG",
	sqlite3.SQLITE_CONSTRAINT: "SQLITE_CONSTRAINT", sqlite3.SQLITE_MISMATCH: "SQLITE_MISMATCH", sqlite3.SQLITE_MISUSE: "SQLITE_MISUSE",
	sqlite3.SQLITE_AUTH: "SQLITE_AUTH", sqlite3.SQLITE_RANGE: "SQLITE_RANGE", sqlite3.SQLITE_NOTADB: "SQLITE_NOTADB",
}

var extendedCodes = map[int]string{
	sqlite3.SQLITE_CONSTRAINT_CHECK:      "SQLITE_CONSTRAINT_CHECK",
	sqlite3.SQLITE_CONSTRAINT_FOREIGNKEY: "SQLITE_CONSTRAINT_FOREIGNKEY",
	sqlite3.SQLITE_CONSTRAINT_NOTNULL:    "SQLITE_CONSTRAINT_NOTNULL",
	sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY: "SQLITE_CONSTRAINT_PRIMARYKEY",
	sqlite3.SQLITE_CONSTRAINT_ROWID:      "SQLITE_CONSTRAINT_ROWID",
	sqlite3.SQLITE_CONSTRAINT_TRIGGER:    "SQLITE_CONSTRAINT_TRIGGER",
	sqlite3.SQLITE_CONSTRAINT_UNIQUE:     "SQLITE_CONSTRAINT_UNIQUE",
	sqlite3.SQLITE_CONSTRAINT_DATATYPE:   "SQLITE_CONSTRAINT_DATATYPE",
}
