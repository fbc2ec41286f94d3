// Package rowtest makes forms, their posts and tables for tests, from a seeded grammar of the posts of browsers and scripts and
// of the tables of authors. Each column states its value for an empty input, so that a test can compute the expected row.
package rowtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"math/rand/v2"
	"mime/multipart"
	"net/textproto"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Empty is the value of a column for an empty input.
type Empty int

// The values for an empty input: an empty text, NULL, or none, so that the column's default applies.
const (
	Text Empty = iota
	Null
	Stays
)

// Column is a column of a table.
type Column struct {
	Name   string // in lower case
	Empty  Empty
	Number bool // turns the words of checkboxes into numbers
	Closed bool // no visitor fills it
	// Time writes the time of a lead; nil for a column that is not "created_at".
	Time func(time.Time) any
	Key  bool // gets the lead's id if no visitor fills it
	Raw  bool // text is stored as bytes
}

// Table is a table called "leads".
type Table struct {
	Name    string
	SQL     string
	Columns []Column
}

const isoTime = "2006-01-02T15:04:05.000Z"

// Tables returns twenty tables.
func Tables() []Table {
	text := func(names ...string) (all []Column) {
		for _, name := range names {
			all = append(all, Column{Name: name})
		}
		return all
	}
	number := func(names ...string) (all []Column) {
		for _, name := range names {
			all = append(all, Column{Name: name, Empty: Null, Number: true})
		}
		return all
	}
	at := func(write func(time.Time) any) Column { return Column{Name: "created_at", Time: write} }
	id := Column{Name: "id", Closed: true}
	iso := at(func(t time.Time) any { return t.Format(isoTime) })
	const topics = "CREATE TABLE topics (id INTEGER PRIMARY KEY, slug TEXT UNIQUE); INSERT INTO topics VALUES (1, 'boats'), (2, 'oars'); "
	all := func(columns ...[]Column) []Column { return slices.Concat(columns...) }
	one := func(columns ...Column) []Column { return columns }
	return []Table{
		{
			"loose", "CREATE TABLE leads (id INTEGER PRIMARY KEY, name TEXT, email VARCHAR(99), age INT, price REAL, agree BOOLEAN, " +
				"day DATE)",
			all(one(id), text("name", "email"), number("age", "price", "agree", "day")),
		},
		{
			"strict", "CREATE TABLE leads (id INTEGER PRIMARY KEY, name TEXT, age INTEGER, price REAL, agree INTEGER, note TEXT) STRICT",
			all(one(id), text("name", "note"), number("age", "price", "agree")),
		},
		{
			"defaults", "CREATE TABLE leads (name TEXT NOT NULL DEFAULT '', age INTEGER NOT NULL DEFAULT 7, " +
				"status TEXT NOT NULL DEFAULT 'new')",
			one(Column{Name: "name", Empty: Stays}, Column{Name: "age", Empty: Stays, Number: true}, Column{Name: "status", Empty: Stays}),
		},
		{
			"reference", topics + "CREATE TABLE leads (name TEXT, topic_id INTEGER REFERENCES topics (id))",
			all(text("name"), number("topic_id")),
		},
		{
			"reference by word", topics + "CREATE TABLE leads (topic TEXT REFERENCES topics (slug), note TEXT)",
			all(one(Column{Name: "topic", Empty: Null}), text("note")),
		},
		{
			"list", "CREATE TABLE leads (kind TEXT CHECK (kind IN ('a', 'b')), note TEXT, name TEXT CHECK (length(name) > 0))",
			all(one(Column{Name: "kind", Empty: Null}, Column{Name: "name", Empty: Null}), text("note")),
		},
		{
			"unique", "CREATE TABLE leads (email TEXT, name TEXT, UNIQUE (email, name))",
			one(Column{Name: "email", Empty: Null}, Column{Name: "name", Empty: Null}),
		},
		{
			"text key", "CREATE TABLE leads (id TEXT PRIMARY KEY, name TEXT) STRICT, WITHOUT ROWID",
			all(one(Column{Name: "id", Empty: Null, Key: true}), text("name")),
		},
		{
			"loose key", "CREATE TABLE leads (email TEXT PRIMARY KEY, name TEXT)",
			all(one(Column{Name: "email", Empty: Null, Key: true}), text("name")),
		},
		{
			"number key", "CREATE TABLE leads (id INTEGER PRIMARY KEY AUTOINCREMENT, ID2 BIGINT, name TEXT)",
			all(one(id), text("name"), number("id2")),
		},
		{
			"seconds", "CREATE TABLE leads (name TEXT, created_at INTEGER NOT NULL DEFAULT (unixepoch()))",
			all(text("name"), one(at(func(t time.Time) any { return t.Unix() }))),
		},
		{
			"milliseconds", "CREATE TABLE leads (name TEXT, created_at INTEGER) STRICT",
			all(text("name"), one(at(func(t time.Time) any { return t.UnixMilli() }))),
		},
		{
			"timestamps", "CREATE TABLE leads (name TEXT, created_at TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP)",
			all(text("name"), one(at(func(t time.Time) any { return t.Format("2006-01-02 15:04:05") }))),
		},
		{
			"iso", "CREATE TABLE leads (name TEXT, created_at TEXT NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', " +
				"'now'))) STRICT",
			all(text("name"), one(iso)),
		},
		{"untyped", "CREATE TABLE leads (name, age, agree, created_at)", all(text("name", "age", "agree"), one(iso))},
		{
			"any", "CREATE TABLE leads (name ANY, age ANY, fields BLOB) STRICT",
			all(text("name", "age"), one(Column{Name: "fields", Closed: true, Raw: true})),
		},
		{
			"platform", "CREATE TABLE leads (lead_id TEXT UNIQUE, form TEXT NOT NULL, fields TEXT CHECK (json_valid(fields)), " +
				"created_at TEXT)",
			one(Column{Name: "lead_id", Closed: true}, Column{Name: "form", Closed: true}, Column{Name: "fields", Closed: true}, iso),
		},
		{"required", "CREATE TABLE leads (name TEXT NOT NULL, age INTEGER NOT NULL, day TEXT)", all(text("name", "day"), number("age"))},
		{
			"composite key", "CREATE TABLE leads (form TEXT, lead_id TEXT, note TEXT, PRIMARY KEY (form, lead_id)) WITHOUT ROWID",
			all(one(Column{Name: "form", Closed: true}, Column{Name: "lead_id", Closed: true}), text("note")),
		},
		{
			"generated", "CREATE TABLE leads (name TEXT, loud TEXT AS (upper(name)), price NUMERIC, photo BLOB, tag TEXT)",
			all(text("name", "tag"), number("price"), one(Column{Name: "photo", Empty: Null})),
		},
	}
}

// Field is a field of a form with the answers of one post.
type Field struct {
	Name   string
	Values []string // none for a field that is not sent
	File   bool
	Stray  bool // no page has it
}

// Form is a form of a page, and a post of it.
type Form struct {
	Name, HTML, Type, Body string
	Fields                 []Field
}

// Value returns an answer of the form as JSON, "" where it has none. Several answers of a name are a list.
func (f Form) Value(name string, strays bool) string {
	for _, field := range f.Fields {
		if !strings.EqualFold(field.Name, name) || len(field.Values) == 0 || field.Stray && !strays {
			continue
		}
		var value any = field.Values
		if len(field.Values) == 1 {
			value = field.Values[0]
		}
		text, err := json.Marshal(value)
		if err != nil {
			panic(err)
		}
		return string(text)
	}
	return ""
}

// kinds are the fields of forms: the control, and the values that a browser sends for it.
var kinds = []struct {
	name, control string
	sent          []string
}{
	{"name", `<input name=%q>`, []string{"", "Kim", "Zoë 🚣", "  ", "O'Brien \"q\"", "null", "12"}},
	{"Email", `<input type=email name=%q>`, []string{"", "a@b.test", "100%"}},
	{"age", `<input type=number name=%q>`, []string{"", "41", "0", "-3", "1.5", " 7 ", "old", "1e3"}},
	{"price", `<input name=%q inputmode=decimal>`, []string{"", "1.50", "1,50", "free"}},
	{"agree", `<input type=checkbox name=%q>`, []string{"-", "on"}},
	{"day", `<input type=date name=%q>`, []string{"", "2026-05-06"}},
	{"note", `<textarea name=%q></textarea>`, []string{"", "two\r\nlines", "<b>&amp;</b>", "a=b&c=d;e"}},
	{"topic_id", `<select name=%q><option value="">-<option value=1>a</select>`, []string{"", "1", "2", "9"}},
	{"topic", `<select name=%q><option><option>boats</select>`, []string{"", "boats", "tents"}},
	{"kind", `<input type=radio name=%q value=a>`, []string{"", "-", "a", "c"}},
	{"status", `<input type=hidden name=%q>`, []string{"", "open"}},
	{"id", `<input type=hidden name=%q>`, []string{"", "7", "mine"}},
	{"tag", `<select multiple name=%q><option>x<option>y</select>`, []string{"-", "x", "x|y"}},
	{"photo", `<input type=text name=%q>`, []string{"", "p"}},
	{"website", `<input name=%q tabindex=-1>`, []string{""}}, // a honeypot that stayed empty
	{"created_at", `<input type=hidden name=%q>`, []string{"2001-01-01"}},
	{"Odd \"name\"", `<input name=%q>`, []string{"", "x"}},
}

// Forms returns n forms, always the same for a seed.
func Forms(seed uint64, count int) []Form {
	random := rand.New(rand.NewPCG(seed, 1)) //nolint:gosec // tests repeat it
	forms := make([]Form, count)
	for n := range forms {
		f := Form{Name: fmt.Sprintf("form-%d", n)}
		var controls []string
		stray := random.IntN(len(kinds))
		for i, k := range kinds {
			asked, strays := random.IntN(2) == 0, i == stray && random.IntN(3) == 0
			if !asked && !strays {
				continue
			}
			field := Field{Name: k.name, Stray: !asked}
			if sent := k.sent[random.IntN(len(k.sent))]; sent != "-" {
				field.Values = strings.Split(sent, "|")
			}
			f.Fields = append(f.Fields, field)
			if asked {
				controls = append(controls, strings.ReplaceAll(k.control, "%q", `"`+html.EscapeString(k.name)+`"`))
			}
		}
		random.Shuffle(len(f.Fields), func(i, j int) { f.Fields[i], f.Fields[j] = f.Fields[j], f.Fields[i] })
		f.HTML = fmt.Sprintf("<form method=post action=/__pages/forms/%s>%s</form>\n", f.Name, strings.Join(controls, ""))
		f.encode(random.IntN(3))
		forms[n] = f
	}
	return forms
}

// encode writes the post as one of the encodings.
func (f *Form) encode(as int) {
	switch as {
	case 0:
		f.encodeURL()
	case 1:
		f.encodeMultipart()
	default:
		f.encodeJSON()
	}
}

func (f *Form) encodeURL() {
	pairs := []string{"form=" + f.Name}
	for _, field := range f.Fields {
		for _, value := range field.Values {
			pairs = append(pairs, url.QueryEscape(field.Name)+"="+url.QueryEscape(value))
		}
	}
	f.Type, f.Body = "application/x-www-form-urlencoded", strings.Join(pairs, "&")
}

func (f *Form) encodeMultipart() {
	var body bytes.Buffer
	w := multipart.NewWriter(&body)
	for _, field := range append([]Field{{Name: "form", Values: []string{f.Name}}}, f.Fields...) {
		for _, value := range field.Values {
			head := `form-data; name="` + strings.ReplaceAll(field.Name, `"`, "%22") + `"`
			part, err := w.CreatePart(textproto.MIMEHeader{"Content-Disposition": {head}})
			if err == nil {
				_, err = part.Write([]byte(value))
			}
			if err != nil {
				panic(err)
			}
		}
	}
	if err := w.Close(); err != nil {
		panic(err)
	}
	f.Type, f.Body = w.FormDataContentType(), body.String()
}

func (f *Form) encodeJSON() {
	pairs := []string{`"form":"` + f.Name + `"`}
	for _, field := range f.Fields {
		if value := f.Value(field.Name, true); value != "" {
			name, err := json.Marshal(field.Name)
			if err != nil {
				panic(err)
			}
			pairs = append(pairs, string(name)+":"+value)
		}
	}
	f.Type, f.Body = "application/json", "{"+strings.Join(pairs, ",")+"}"
}

// Row returns the row that a careful author writes: the columns with their values. fields are all answers as JSON.
func (t Table) Row(f Form, lead, fields string, at time.Time) (names []string, values []any) {
	for _, c := range t.Columns {
		value, filled := c.value(f, lead, fields, at)
		if filled {
			names, values = append(names, c.Name), append(values, value)
		}
	}
	return names, values
}

func (c Column) value(f Form, lead, fields string, at time.Time) (value any, filled bool) {
	switch {
	case c.Time != nil:
		return c.Time(at), true
	case c.Name == "lead_id":
		return lead, true
	case c.Name == "form":
		return f.Name, true
	case c.Name == "fields" && c.Raw:
		return []byte(fields), true
	case c.Name == "fields":
		return fields, true
	case c.Closed:
		return nil, false
	}
	raw := f.Value(c.Name, false)
	var text string
	isText := json.Unmarshal([]byte(raw), &text) == nil
	words := map[string]int{"on": 1, "true": 1, "off": 0, "false": 0}
	number, isWord := words[text]
	switch {
	case raw == "" && c.Key:
		return lead, true
	case raw == "":
		return nil, false
	case !isText:
		return raw, true
	case text == "" || c.Number && strings.TrimSpace(text) == "":
		return map[Empty]any{Text: ""}[c.Empty], c.Empty != Stays
	case c.Number && isWord:
		return number, true
	}
	return text, true
}
