package formrow_test

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/devserver/formrow"
)

func open(t testing.TB, schema string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(t.TempDir(), "site.db")+"?_pragma=foreign_keys(1)&_pragma=synchronous(OFF)")
	if err == nil {
		_, err = db.Exec(schema)
	}
	if err != nil {
		t.Fatalf("%v in %s", err, schema)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// post reads "name=JSON" pairs.
func post(pairs ...string) formrow.Post {
	p := formrow.Post{Lead: "lead_a", Form: "contact", At: time.Date(2026, 5, 6, 7, 8, 9, 123e6, time.UTC), All: "{}"}
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		p.Answers = append(p.Answers, formrow.Answer{Name: name, Value: json.RawMessage(value)})
	}
	return p
}

func write(t testing.TB, db *sql.DB, p formrow.Post) error {
	t.Helper()
	tx, err := db.BeginTx(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := formrow.Write(context.WithoutCancel(t.Context()), tx, "leads", p); err != nil {
		_ = tx.Rollback()
		return err
	}
	return tx.Commit()
}

// last returns the last row as SQLite literals.
func last(t testing.TB, db *sql.DB) string {
	t.Helper()
	rows, err := db.Query("SELECT name FROM pragma_table_xinfo('leads')")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var shown []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		shown = append(shown, fmt.Sprintf(`'%s=' || quote("%s")`, name, strings.ReplaceAll(name, `"`, `""`)))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	var row string
	if err := db.QueryRow("SELECT concat_ws(' ', " + strings.Join(shown, ", ") + ") FROM leads").Scan(&row); err != nil {
		t.Fatal(err)
	}
	return row
}

func TestWrite(t *testing.T) {
	const topics = "CREATE TABLE topics (id INTEGER PRIMARY KEY, slug TEXT UNIQUE); INSERT INTO topics VALUES (1, 'a'); "
	for _, c := range []struct{ name, schema, answers, want string }{
		{
			"a number left empty",
			"CREATE TABLE leads (id INTEGER PRIMARY KEY, email TEXT, age INTEGER) STRICT",
			`email="a"|age=""`,
			"id=1 email='a' age=NULL",
		},
		{
			"in a loose table",
			"CREATE TABLE leads (age INTEGER, price REAL, day DATE, ok BOOLEAN)",
			`age=""|price=" "|day=""|ok=""`,
			"age=NULL price=NULL day=NULL ok=NULL",
		},
		{
			"a reference left empty",
			topics + "CREATE TABLE leads (topic_id INTEGER REFERENCES topics(id), topic TEXT REFERENCES topics(slug))",
			`topic_id=""|topic=""`,
			"topic_id=NULL topic=NULL",
		},
		{"a reference chosen", topics + "CREATE TABLE leads (topic_id INTEGER REFERENCES topics(id))", `topic_id="1"`, "topic_id=1"},
		{
			"a reference to nothing",
			topics + "CREATE TABLE leads (topic_id INTEGER REFERENCES topics(id))",
			`topic_id="9"`,
			"FOREIGN KEY constraint failed",
		},
		{
			"a list of values",
			"CREATE TABLE leads (kind TEXT CHECK (kind IN ('a', 'b')), note TEXT)",
			`kind=""|note=""`,
			"kind=NULL note=''",
		},
		{
			"two lists",
			"CREATE TABLE leads (a TEXT CHECK (a <> ''), note TEXT, b TEXT CHECK (b IN ('x')))",
			`a=""|note=""|b=""`,
			"a=NULL note='' b=NULL",
		},
		{
			"two columns in one rule",
			"CREATE TABLE leads (a TEXT, b TEXT, CHECK ((a <> '' AND b <> '') OR (a IS NULL AND b IS NULL)))",
			`a=""|b=""`,
			"a=NULL b=NULL",
		},
		{
			"no way out",
			"CREATE TABLE leads (kind TEXT NOT NULL CHECK (kind IN ('a', 'b')))",
			`kind=""`,
			"CHECK constraint failed: kind IN ('a', 'b')",
		},
		{"a number that must be there", "CREATE TABLE leads (age INTEGER NOT NULL)", `age=""`, "NOT NULL constraint failed: leads.age"},
		{
			"a trigger's rule",
			"CREATE TABLE leads (kind TEXT, note TEXT); CREATE TRIGGER t BEFORE INSERT ON leads WHEN NEW.kind = '' " +
				"BEGIN SELECT RAISE(ABORT, 'no'); END",
			`kind=""|note=""`,
			"kind=NULL note=''",
		},
		{
			"a trigger that rolls back",
			"CREATE TABLE leads (kind TEXT); " +
				"CREATE TRIGGER t BEFORE INSERT ON leads WHEN NEW.kind = '' BEGIN SELECT RAISE(ROLLBACK, 'gone'); END",
			`kind=""`,
			"gone",
		},
		{"unique", "CREATE TABLE leads (email TEXT UNIQUE, name TEXT)", `email=""|name=""`, "email=NULL name=''"},
		{
			"defaults stay",
			"CREATE TABLE leads (status TEXT DEFAULT 'new', n INTEGER NOT NULL DEFAULT 7, e TEXT DEFAULT NULL)",
			`status=""|n=""|e=""`,
			"status='new' n=7 e=''",
		},
		{
			"defaults and null",
			"CREATE TABLE leads (status TEXT NOT NULL DEFAULT 'new', e TEXT)",
			`status=null|e=null`,
			"status='new' e=NULL",
		},
		{
			"numbers",
			"CREATE TABLE leads (age INTEGER, price REAL, n NUMERIC, t TEXT, x)",
			`age=" 41 "|price="1.50"|n="007"|t="007"|x="5"`,
			"age=41 price=1.5 n=7 t='007' x='5'",
		},
		{"no numbers", "CREATE TABLE leads (age INTEGER)", `age="old"`, "age='old'"},
		{
			"no numbers, strictly",
			"CREATE TABLE leads (age INTEGER) STRICT",
			`age="old"`,
			"cannot store TEXT value in INTEGER column leads.age",
		},
		{"checkboxes", "CREATE TABLE leads (ok INTEGER, no BOOLEAN, text TEXT)", `ok="on"|no="false"|text="on"`, "ok=1 no=0 text='on'"},
		{
			"JSON",
			"CREATE TABLE leads (n INTEGER, t TEXT, x, ok BOOLEAN, list TEXT, big TEXT)",
			`n=5|t=1.50|x=1.5|ok=true|list=["a",1]|big=12345678901234567890`,
			`n=5 t='1.50' x=1.5 ok=1 list='["a",1]' big='12345678901234567890'`,
		},
		{"bytes", "CREATE TABLE leads (data BLOB, fields BLOB, any ANY) STRICT", `any=""`, "data=X'7B7D' fields=X'7B7D' any=''"},
		{"bytes left empty", "CREATE TABLE leads (photo BLOB)", `photo=""`, "photo=NULL"},
		{"the row's number", "CREATE TABLE leads (id INTEGER PRIMARY KEY, name TEXT)", `ID="99"|NAME="Kim"`, "id=1 name='Kim'"},
		{"a key of text", "CREATE TABLE leads (id TEXT PRIMARY KEY, name TEXT) STRICT", `name="Kim"`, "id='lead_a' name='Kim'"},
		{
			"a key with a default",
			"CREATE TABLE leads (id TEXT PRIMARY KEY DEFAULT 'made', name TEXT)",
			`name="Kim"`,
			"id='made' name='Kim'",
		},
		{
			"a key that the form asks for",
			"CREATE TABLE leads (email TEXT PRIMARY KEY, name TEXT)",
			`email="a@b.test"|name=""`,
			"email='a@b.test' name=''",
		},
		{
			"what the platform knows",
			"CREATE TABLE leads (form TEXT, lead_id TEXT UNIQUE, fields TEXT, data TEXT)",
			`form="x"|lead_id="forged"|fields="f"`,
			"form='contact' lead_id='lead_a' fields='{}' data='{}'",
		},
		{"an answer called data", "CREATE TABLE leads (data TEXT, form TEXT)", `Data="mine"`, "data='mine' form='contact'"},
		{"generated", "CREATE TABLE leads (name TEXT, loud TEXT AS (upper(name)))", `name="a"|loud="b"`, "name='a' loud='A'"},
		{"nothing fits", "CREATE TABLE leads (id INTEGER PRIMARY KEY, note TEXT DEFAULT 'x')", `name="a"`, "id=1 note='x'"},
		{"no table", "SELECT 1", `name="a"`, `no such table: "leads"`},
		{"odd names", `CREATE TABLE leads ("Odd ""name" TEXT)`, `odd "name="a"`, `Odd "name='a'`},
	} {
		t.Run(c.name, func(t *testing.T) {
			db := open(t, c.schema)
			err := write(t, db, post(strings.Split(c.answers, "|")...))
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				got = last(t, db)
			}
			if err == nil && got != c.want || err != nil && !strings.Contains(got, c.want) {
				t.Errorf("got %s\nwant %s", got, c.want)
			}
		})
	}
}

// A visitor fills no column without a field in the form, and no key of a form that no page shows.
func TestUnasked(t *testing.T) {
	db := open(t, "CREATE TABLE leads (id TEXT PRIMARY KEY, n INT, status TEXT DEFAULT 'new', name TEXT)")
	p := post(`id="mine"`, `Status="approved"`, `name="Kim"`)
	p.Unasked, p.Unseen = []string{"Status"}, true
	if err := write(t, db, p); err != nil {
		t.Fatal(err)
	}
	if got := last(t, db); got != "id='lead_a' n=NULL status='new' name='Kim'" {
		t.Error(got)
	}
}

// A time has the form of the column's own default, whatever the zone; a default that is not the present time stays.
func TestTimes(t *testing.T) {
	for declared, want := range map[string]string{
		"TEXT":    "'2026-05-06T07:08:09.123Z'",
		"INTEGER": "1778051289123", "REAL": "1778051289123.0",
		"INTEGER NOT NULL DEFAULT (unixepoch())":                                       "1778051289",
		"INTEGER DEFAULT (strftime('%s', 'now'))":                                      "1778051289",
		"TEXT DEFAULT (strftime('%s', 'now'))":                                         "'1778051289'",
		"INTEGER DEFAULT (unixepoch() * 1000)":                                         "1778051289123",
		"INTEGER DEFAULT (CAST(unixepoch('subsec') * 1000 AS INTEGER))":                "1778051289123",
		"REAL DEFAULT (unixepoch('subsec'))":                                           "1778051289.123",
		"REAL DEFAULT (julianday('now'))":                                              "2461166.7973278123",
		"TEXT DEFAULT CURRENT_TIMESTAMP":                                               "'2026-05-06 07:08:09'",
		"DATETIME DEFAULT (datetime('now'))":                                           "'2026-05-06 07:08:09'",
		"TEXT DEFAULT (datetime('now', '+5 hours', '+45 minutes'))":                    "'2026-05-06 12:53:09'",
		"TEXT DEFAULT CURRENT_DATE":                                                    "'2026-05-06'",
		"TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))":                "'2026-05-06T07:08:09.123Z'",
		"TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%SZ', 'now'))":                         "'2026-05-06T07:08:09Z'",
		"TEXT DEFAULT (strftime('%Y-%m-%d %H:%M', 'now'))":                             "'2026-05-06 07:08'",
		"INTEGER DEFAULT 0":                                                            "0",
		"TEXT DEFAULT '2000-01-01 00:00:00'":                                           "'2000-01-01 00:00:00'",
		"TEXT DEFAULT ''":                                                              "''",
		"TEXT DEFAULT NULL":                                                            "'2026-05-06T07:08:09.123Z'",
		"INTEGER DEFAULT (CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER))": "1778051289123",
		"TEXT DEFAULT (strftime('%Y-%m-%dT%H:%M:%S+00:00', 'now'))":                    "'2026-05-06T07:08:09+00:00'",
		"INTEGER PRIMARY KEY":                                                          "1",
		"TEXT DEFAULT (strftime('%Y%m%d%H%M%S', 'now'))":                               "'20260506070809'",
	} {
		t.Run(declared, func(t *testing.T) {
			db := open(t, "CREATE TABLE leads (created_at "+declared+")")
			if err := write(t, db, post(`created_at="forged"`)); err != nil {
				t.Fatal(err)
			}
			if got := last(t, db); got != "created_at="+want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}
