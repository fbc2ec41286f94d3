package migrate_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/migrate"
)

// TestOtherDatabases says what to write in SQLite for what was written for another database.
func TestOtherDatabases(t *testing.T) {
	db := open(t)
	const is = "the database is SQLite: "
	for text, fix := range map[string]string{
		"CREATE TABLE a (id INT NOT NULL AUTO_INCREMENT PRIMARY KEY, at DATETIME DEFAULT NOW()) ENGINE=InnoDB;": is +
			"write INTEGER PRIMARY KEY, which numbers rows by itself",
		"CREATE TABLE a (id SERIAL PRIMARY KEY, at TIMESTAMPTZ DEFAULT now());": is + "write CURRENT_TIMESTAMP, which is what NOW() is",
		"CREATE TABLE a (at TEXT); INSERT INTO a VALUES (NOW());":               is + "write CURRENT_TIMESTAMP, which is what NOW() is",
		"CREATE TABLE a (id UUID PRIMARY KEY DEFAULT gen_random_uuid());":       is + "write (lower(hex(randomblob(16)))) for a random id",
		"CREATE TABLE a (id INT) ENGINE=InnoDB DEFAULT CHARSET=utf8mb4;":        is + "leave out the options behind the columns",
		"CREATE TABLE a (x); DROP TABLE IF EXISTS a CASCADE;":                   is + "leave out the last word",
		"CREATE TYPE mood AS ENUM ('sad', 'ok');": is +
			"leave the statement out, and write TEXT CHECK (column IN ('a', 'b')) for a column of that type",
		"CREATE SEQUENCE a_id_seq START WITH 1;": is +
			"leave the statement out: INTEGER PRIMARY KEY numbers rows by itself",
		"LOCK TABLES `a` WRITE;":                     is + "leave the statement out: it is about a session",
		"SET statement_timeout = 0;":                 is + "leave the statement out: it is about a session",
		"COPY public.a (id) FROM stdin;":             is + "have the dump write INSERT statements: pg_dump --inserts",
		"CREATE TABLE public.a (id integer);":        is + "leave out the schema before the name: public",
		`CREATE EXTENSION IF NOT EXISTS "pgcrypto";`: is + "leave the statement out: there are no extensions",
		"CREATE TABLE a (x JSONB DEFAULT '{}'::jsonb);": is +
			"write CAST(… AS jsonb), or nothing where the value has the type already",
		"CREATE TABLE a (x, -- NOW()\n y 'AUTO_INCREMENT' z z,);": "",
		"CREATE TABLE q (a, b);\nDELETE FROM q ORDER BY a LIMIT 1;": "write DELETE FROM q WHERE rowid IN (SELECT rowid FROM q ORDER BY a LIMIT 1): " +
			"SQLite is built without this form here",
		"CREATE TABLE q (a, b); UPDATE OR IGNORE main.\"q\" SET a = (SELECT 1 LIMIT 1) WHERE b = 2 LIMIT 3 RETURNING a;": "write UPDATE OR IGNORE main . \"q\" " +
			"SET a = ( SELECT 1 LIMIT 1 ) WHERE rowid IN (SELECT rowid FROM main.\"q\" WHERE b = 2 LIMIT 3) RETURNING a: SQLite is built without this form here",
		"CREATE TABLE a (x); INSERT INTO a VALUES (:id);": "write the value itself, or put the text in quotes",
	} {
		t.Run(fmt.Sprintf("%.40s", text), func(t *testing.T) {
			_, err := migrate.New(db, fstest.MapFS{"m/1.sql": {Data: []byte(text)}}, migrate.Options{Dir: "m"}).Apply(t.Context())
			failed, ok := errors.AsType[*migrate.Error](err)
			if !ok || failed.Fix != fix {
				t.Errorf("%s\ngives %v, fix: %q\n want %q", text, err, failed.Fix, fix)
			}
		})
	}
}
