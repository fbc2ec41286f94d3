package site

import (
	"bytes"
	"database/sql"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest"
)

// inbox is a site with a declared form and a table for submissions.
type inbox struct {
	*fixture

	own *sql.DB
}

const enquiries = `CREATE TABLE enquiries (
  id INTEGER PRIMARY KEY, lead_id TEXT UNIQUE, form TEXT NOT NULL, name TEXT NOT NULL DEFAULT '', "Odd ""name" TEXT, age INTEGER,
  fields TEXT CHECK (json_valid(fields)), created_at TEXT, shout TEXT GENERATED ALWAYS AS (upper(name))
) STRICT`

func openInbox(t *testing.T, options Options, schema string) *inbox {
	t.Helper()
	own := openDB(t, filepath.Join(t.TempDir(), "site.db"))
	if _, err := own.Exec(schema); err != nil {
		t.Fatal(err)
	}
	options.SubmissionsDB, options.DevHints = own, true
	m := &manifest.Manifest{
		Forms:    []manifest.Form{{Name: "membership", Event: "custom.membership_requested"}},
		Bindings: manifest.Bindings{Submissions: "enquiries"},
	}
	dir, pages := folder(t, map[string]string{"/contact.html": `<form method=post action=/__pages/forms/contact>
<input name=name><input name=age><input name=phone><input type=hidden name=id><input name=lead_id></form>`})
	return &inbox{start(t, options, Revision{Manifest: m, Assets: pages, AssetsDir: dir}), own}
}

func (b *inbox) rows(t *testing.T, query string) string {
	t.Helper()
	var got sql.NullString
	if err := b.own.QueryRow(query).Scan(&got); err != nil {
		t.Fatal(err)
	}
	return got.String
}

func (b *inbox) count(t *testing.T) int {
	t.Helper()
	leads, _, _, err := b.site.store.counts(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return leads
}

func (b *inbox) leads(t *testing.T) []Lead {
	t.Helper()
	return decode[LeadList](t, b.get(t, "/__pages/api/leads")).Leads
}

func (b *inbox) events(t *testing.T) []Event {
	t.Helper()
	return decode[EventList](t, b.get(t, "/__pages/api/events")).Events
}

func TestFormPost(t *testing.T) {
	now := time.Date(2026, 5, 6, 7, 8, 9, 123456789, time.UTC)
	var raised []string
	b := openInbox(t, Options{Now: func() time.Time { return now }, OnEvent: func(e Event) { raised = append(raised, e.Name) }}, enquiries)
	got := b.do(
		t, nil, "POST", "/__pages/forms", "form=membership&name=Kim&age=41&tag=a&tag=b&_next=/join/thanks", formType,
		"Accept: application/json",
	)
	lead := b.leads(t)[0]
	want := `{"id":"` + lead.ID +
		`","form":"membership","fields":{"name":"Kim","age":"41","tag":["a","b"]},"created_at":"2026-05-06T07:08:09.123Z",` +
		`"preview":false,"submission":{"table":"enquiries","status":"written"},` +
		`"events":["pages.lead.captured","custom.membership_requested"]}`
	if got.status != 201 || strings.TrimSpace(got.body) != `{"ok":true,"lead":`+want+`}` {
		t.Errorf("%d %s", got.status, got.body)
	}
	if list := b.get(t, "/__pages/api/leads").body; strings.TrimSpace(list) != `{"leads":[`+want+`]}` {
		t.Errorf("list: %s", list)
	}
	if row := b.rows(t, `SELECT concat_ws('|', lead_id, form, name, age, fields, created_at, shout) FROM enquiries`); row != lead.ID+
		`|membership|Kim|41|{"name":"Kim","age":"41","tag":["a","b"]}|2026-05-06T07:08:09.123Z|KIM` {
		t.Errorf("row: %s", row)
	}
	events := b.events(t)
	if len(events) != 2 || events[0].Name != "custom.membership_requested" || events[1].Name != EventLeadCaptured ||
		events[0].LeadID != lead.ID ||
		events[0].Fields.Text("name") != "Kim" || strings.Join(raised, " ") != "pages.lead.captured custom.membership_requested" {
		t.Errorf("events: %+v, raised %v", events, raised)
	}
	now = now.Add(time.Second)
	got = b.do(t, nil, "POST", "/__pages/forms/contact", "name=Ann&_next=/thanks?x=1%23top", formType)
	if got.status != 303 || got.header.Get("Location") != "/thanks?x=1#top" {
		t.Errorf("%d %v", got.status, got.header)
	}
	leads := b.leads(t)
	if len(leads) != 2 || leads[0].Form != "contact" || strings.Join(leads[0].Events, " ") != EventLeadCaptured {
		t.Errorf("leads: %+v", leads)
	}
	if list := decode[LeadList](t, b.get(t, "/__pages/api/leads?form=membership&limit=5")).Leads; len(list) != 1 || list[0].ID != lead.ID {
		t.Errorf("filtered: %+v", list)
	}
	if got := b.get(t, "/__pages/forms/thanks", "Accept: text/html"); got.status != 200 || !strings.Contains(got.body, "Thank you") {
		t.Errorf("thanks: %d", got.status)
	}
}

func TestFormEncodings(t *testing.T) {
	multi, multiType := multipartBody(t, [][3]string{
		{"form", "", "contact"}, {"name", "", "Kim"}, {"cv", "kim.pdf", "12345"}, {"empty", "", ""},
	})
	for _, c := range []struct{ name, kind, body, fields string }{
		{"urlencoded", "application/x-www-form-urlencoded", "form=contact&name=K%c3%a9m+%26+co", `{"name":"Kém & co"}`},
		{"charset", "application/x-www-form-urlencoded; charset=UTF-8", "form=contact&a", `{"a":""}`},
		{"semicolon", "application/x-www-form-urlencoded", "form=contact&a=1;b=2&&c=%3b", `{"a":"1;b=2","c":";"}`},
		{"not UTF-8", "application/x-www-form-urlencoded", "form=contact&a=%ff", "{\"a\":\"\ufffd\"}"},
		{"no fields", "application/x-www-form-urlencoded", "form=contact", `{}`},
		{
			"no escapes", "application/x-www-form-urlencoded", "form=contact&email=100%&a%=%zz+%4&b=%2&%25=%u0041",
			`{"email":"100%","a%":"%zz %4","b":"%2","%":"%u0041"}`,
		},
		{
			"names as browsers escape them", "multipart/form-data; boundary=x",
			"--x\r\nContent-Disposition: form-data; name=\"form\"\r\n\r\n" +
				"contact\r\n--x\r\nContent-Disposition: form-data; name=\"a%0D%0A%22b%22%20\"\r\n\r\n%22\r\n--x\r\n" +
				"Content-Disposition: form-data; name=\"f\"; filename=\"%22q%22.txt\"\r\nContent-Type: text/plain\r\n\r\nx\r\n--x--\r\n",
			`{"a\r\n\"b\"%20":"%22","f":{"filename":"\"q\".txt","size":1,"content_type":"text/plain",` +
				`"sha256":"2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"}}`,
		},
		{
			"strange names", "application/x-www-form-urlencoded",
			"form=contact&form=contact&_next=/&_token=t&__proto__=0&_subject=s&_=u&constructor=1&x%27);DROP TABLE " +
				"leads;--=2&a=%3Dcmd()&=nameless&toString=3",
			`{"__proto__":"0","_subject":"s","_":"u","constructor":"1","x');DROP TABLE leads;--":"2",` +
				`"a":"=cmd()","":"nameless","toString":"3"}`,
		},
		{
			"multipart", multiType, multi,
			`{"name":"Kim","cv":{"filename":"kim.pdf","size":5,"content_type":"application/pdf",` +
				`"sha256":"5994471abb01112afcc18159f6cc74b4f511b99806da59b3caf5a9c173cacfc5"},"empty":""}`,
		},
		{
			"json", "application/json",
			`{"form":"contact","name":"Kim","n":1.50,"ok":true,"none":null,"list":[1,{"a":2}]}`,
			`{"name":"Kim","n":1.50,"ok":true,"none":null,"list":[1,{"a":2}]}`,
		},
		{
			"json not UTF-8", "application/json",
			"{\"form\":\"contact\",\"a\":\"q\xffz\",\"b\":[{\"c\xff\":\"\xff\"}]}",
			"{\"a\":\"q\ufffdz\",\"b\":[{\"c\ufffd\":\"\ufffd\"}]}",
		},
		{
			"json with half a character", "application/json",
			`{"form":"contact","\ud800":"a","b":"\udc00 \ud83d\ude00","c":[{"\ud800":"\ud800"}]}`,
			"{\"\ufffd\":\"a\",\"b\":\"\ufffd 😀\",\"c\":[{\"\ufffd\":\"\ufffd\"}]}",
		},
		{"json names", "application/json", `{"form":"contact","_next":"/","__proto__":{"a":1},"_x":2}`, `{"__proto__":{"a":1},"_x":2}`},
		{
			"a name of 10 KiB", "application/x-www-form-urlencoded",
			"form=contact&" + strings.Repeat("n", 10<<10) + "=1", `{"` + strings.Repeat("n", 10<<10) + `":"1"}`,
		},
		{"json order", "application/json; charset=utf-8", `{"z":"1","form":"contact","a":"2"}`, `{"z":"1","a":"2"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := openInbox(t, Options{}, enquiries)
			got := b.do(t, nil, "POST", "/__pages/forms", c.body, "Content-Type: "+c.kind)
			if got.status != 303 && got.status != 201 {
				t.Fatalf("%d %s", got.status, got.body)
			}
			leads := b.leads(t)
			fields, err := leads[0].Fields.MarshalJSON()
			if err != nil || len(leads) != 1 || leads[0].Form != "contact" || string(fields) != c.fields ||
				leads[0].Submission.Status != SubmissionWritten {
				t.Errorf("%+v %s", leads, fields)
			}
			if stored := b.rows(t, "SELECT json_group_array(json(fields)) FROM enquiries"); stored != "["+c.fields+"]" {
				t.Errorf("stored: %s", stored)
			}
		})
	}
}

// multipartBody writes parts of name, file name and contents.
func multipartBody(t *testing.T, parts [][3]string) (body, kind string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for _, p := range parts {
		header := textproto.MIMEHeader{"Content-Disposition": {fmt.Sprintf(`form-data; name="%s"`, p[0])}}
		if p[1] != "" {
			header["Content-Disposition"] = []string{fmt.Sprintf(`form-data; name="%s"; filename="%s"`, p[0], p[1])}
			header["Content-Type"] = []string{"application/pdf"}
		}
		part, err := w.CreatePart(header)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := part.Write([]byte(p[2])); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), w.FormDataContentType()
}

func TestFormRefusals(t *testing.T) {
	many := func(n int) string { return "form=contact" + strings.Repeat("&a=b", n) }
	long := func(n int) string { return "form=contact&some_name=" + strings.Repeat("x", n) }
	named := func(n int) string {
		return "form=contact&" + strings.Repeat("n", n) + "=" + strings.Repeat("x", 64<<10)
	}
	one := func(n int) [2]string {
		body, kind := multipartBody(t, [][3]string{{"form", "", "contact"}, {"some_name", "", strings.Repeat("x", n)}})
		return [2]string{body, kind}
	}
	rows := func(n int) string {
		return "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n" + strings.Repeat("A: b\r\n", n-1) + "\r\nb\r\n--x--\r\n"
	}
	total := func(n int) string { // n bytes in all
		pair := "&a=" + strings.Repeat("x", 50000)
		body := "form=contact" + strings.Repeat(pair, n/len(pair))
		return body + "&b=" + strings.Repeat("y", n-len(body)-3)
	}
	files := func(n, size int) [2]string {
		parts := [][3]string{{"form", "", "contact"}}
		for range n {
			parts = append(parts, [3]string{"f", "f.bin", strings.Repeat("x", size)})
		}
		body, kind := multipartBody(t, parts)
		return [2]string{body, kind}
	}
	partMany := func(n int) [2]string {
		parts := [][3]string{}
		for range n {
			parts = append(parts, [3]string{"a", "", "b"})
		}
		body, kind := multipartBody(t, parts)
		return [2]string{body, kind}
	}
	form := func(body string) [2]string { return [2]string{body, "application/x-www-form-urlencoded"} }
	asJSON := func(body string) [2]string { return [2]string{body, "application/json"} }
	multi := func(body, boundary string) [2]string {
		return [2]string{body, "multipart/form-data; boundary=" + boundary}
	}
	const part = "--x\r\nContent-Disposition: form-data; name=\"a\"\r\n\r\nb\r\n"
	const noFile = "--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\"\r\n\r\n\r\n"
	b := openInbox(t, Options{}, enquiries)
	for _, c := range []struct {
		name   string
		post   [2]string // body and content type
		status int
	}{
		{"100 fields", form(many(100)), 303},
		{"101 fields", form(many(101)), 422},
		{"10,001 fields", form(many(10001)), 422},
		{"64 KiB field", form(long(64 << 10)), 303},
		{"64 KiB + 1 field", form(long(64<<10 + 1)), 413},
		{"64 KiB part", one(64 << 10), 303},
		{"64 KiB + 1 part", one(64<<10 + 1), 413},
		{"64 KiB of JSON text", asJSON(`{"some_name":"` + strings.Repeat(`\n`, 64<<10) + `"}`), 201},
		{"64 KiB + 1 of JSON text", asJSON(`{"some_name":"` + strings.Repeat("x", 64<<10+1) + `"}`), 413},
		{"64 KiB + 1 of JSON list", asJSON(`{"a":["` + strings.Repeat("x", 64<<10-3) + `"]}`), 413},
		{"name of 16 KiB", form(named(16 << 10)), 303},
		{"name of 16 KiB + 1", form(named(16<<10 + 1)), 413},
		{"nothing", form(""), 422},
		{"only a target page", form("_next=/&_token=t"), 422},
		{"nothing in parts", multi("--x--\r\n", "x"), 422}, // a browser's post of a form without fields
		{"nothing at all", multi("", "x"), 400},
		{"no file chosen", multi("--x\r\nContent-Disposition: form-data; name=\"f\"; filename=\"\"\r\n\r\n\r\n--x--\r\n", "x"), 422},
		{"no key", asJSON("{}"), 422},
		{"form name alone", form("form=contact"), 303},
		{"100 lines in a part", multi(rows(100), "x"), 303},
		{"101 lines in a part", multi(rows(101), "x"), 400},
		{"5,000 lines in a part", multi(rows(5000), "x"), 400},
		{"1 MiB", form(total(1 << 20)), 303},
		{"1 MiB + 1", form(total(1<<20 + 1)), 413},
		{"malformed escape", form("form=contact&a=%zz"), 303},
		{"two forms", form("form=contact&form=other"), 422},
		{"form name of 64", form("form=" + strings.Repeat("a", 64)), 303},
		{"form name of 65", form("form=" + strings.Repeat("a", 65)), 422},
		{"empty form name", form("form=&a=b"), 422},
		{"form name upper case", form("form=Contact"), 422},
		{"no form name", form("a=b"), 303},
		{"text/plain", [2]string{"form=contact", "text/plain"}, 415},
		{"no content type", [2]string{"form=contact", ""}, 415},
		{"malformed content type", [2]string{"form=contact", "application/"}, 415},
		{"utf-16", [2]string{"form=contact", "application/x-www-form-urlencoded; charset=utf-16"}, 415},
		{"xml", [2]string{"<a/>", "application/xml"}, 415},
		{"5 files", files(5, 10), 303},
		{"6 files", files(6, 10), 422},
		{"5 MiB file", files(1, 5<<20), 303},
		{"5 MiB + 1 file", files(1, 5<<20+1), 413},
		{"100 parts", partMany(100), 303},
		{"1,001 parts", partMany(1001), 422},
		{
			"1,000 parts without answers",
			multi("--x\r\nContent-Disposition: form-data; name=form\r\n\r\ncontact\r\n"+strings.Repeat(noFile, 999)+"--x--\r\n", "x"),
			303,
		},
		{
			"1,001 parts without answers",
			multi("--x\r\nContent-Disposition: form-data; name=form\r\n\r\ncontact\r\n"+strings.Repeat(noFile, 1000)+"--x--\r\n", "x"),
			422,
		},
		{"multipart", multi(part+"--x--\r\n", "x"), 303},
		{"no boundary", [2]string{part + "--x--\r\n", "multipart/form-data"}, 400},
		{"other boundary", multi(part+"--x--\r\n", "y"), 400},
		{"truncated", multi(part, "x"), 400},
		{"truncated in a part", multi(part[:len(part)-3], "x"), 400},
		{"boundary of 71", multi(part, strings.Repeat("x", 71)), 400},
		{
			"nested",
			multi(
				"--x\r\nContent-Disposition: form-data; name=a\r\nContent-Type: multipart/mixed; boundary=y\r\n\r\n--y--\r\n--x--\r\n",
				"x",
			),
			400,
		},
		{"nameless part", multi("--x\r\nContent-Disposition: form-data\r\n\r\nb\r\n--x--\r\n", "x"), 400},
		{"header bomb", multi("--x\r\n"+strings.Repeat("A: b\r\n", 20000)+"\r\nb\r\n--x--\r\n", "x"), 400},
		{"json", asJSON(`{"form":"contact"}`), 201},
		{"empty json", asJSON(``), 400},
		{"null", asJSON(`null`), 400},
		{"array", asJSON(`[]`), 400},
		{"text", asJSON(`"x"`), 400},
		{"truncated json", asJSON(`{"a":`), 400},
		{"two objects", asJSON(`{} {}`), 400},
		{"byte order mark", asJSON("\ufeff{}"), 400},
		{"key twice", asJSON(`{"a":1,"a":2}`), 400},
		{"key twice below", asJSON(`{"a":{"b":1,"b":2}}`), 400},
		{"form is a number", asJSON(`{"form":1}`), 400},
		{"64 deep", asJSON(`{"a":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}`), 201},
		{"65 deep", asJSON(`{"a":` + strings.Repeat("[", 64) + strings.Repeat("]", 64) + `}`), 400},
		{"10,000 deep", asJSON(`{"a":` + strings.Repeat("[", 10000)), 400},
		{"trailing comma", asJSON(`{"a":1,}`), 400},
		{"long token", form("form=contact&_token=" + strings.Repeat("x", 201)), 422},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := b.count(t)
			got := b.do(t, nil, "POST", "/__pages/forms", c.post[0], "Content-Type: "+c.post[1])
			stored := b.count(t) - before
			if got.status != c.status || (stored == 1) != (c.status < 400) {
				t.Errorf("%s: %d, %d stored: %.200s", c.name, got.status, stored, got.body)
			}
			if c.status >= 400 && !strings.Contains(got.body, `{"ok":false,"error":{"code":"`) {
				t.Errorf("%s: %s", c.name, got.body)
			}
		})
	}
	if got := b.do(t, nil, "POST", "/__pages/forms", "x", "Content-Type: multipart/form-data"); got.status != 400 ||
		!strings.Contains(got.body, "do not set that header in a script") {
		t.Errorf("no boundary: %d %s", got.status, got.body)
	}
	if got := b.get(t, "/__pages/forms"); got.status != 405 || got.header.Get("Allow") != "POST" {
		t.Errorf("GET: %d", got.status)
	}
	for path, body := range map[string]string{"/__pages/forms/other": "form=contact", "/__pages/forms": "form=contact&form=other"} {
		if got := b.do(t, nil, "POST", path, body, formType); got.status != 422 ||
			!strings.Contains(got.body, `the field \"form\" says which one was sent`) {
			t.Errorf("two names: %d %s", got.status, got.body)
		}
	}
	if got := b.do(t, nil, "POST", "/__pages/forms", "form=X", formType, "Accept: text/html"); got.status != 422 ||
		!strings.Contains(got.body, "<h1>") {
		t.Errorf("a browser gets %d %s", got.status, got.body)
	}
}

// The refusal of a form that is too large is cheap: one pass over its JSON, without a value for any of its elements.
func TestLargeJSONForm(t *testing.T) {
	for name, item := range map[string]string{"numbers": "1", "lists": "[]", "objects": "{}", "texts": `""`, "members": `{"a":1}`} {
		t.Run(name, func(t *testing.T) {
			text := []byte(`{"a":[` + strings.Repeat(item+",", maxFormBytes/(len(item)+1)-10) + item + `]}`)
			var err error
			made := testing.AllocsPerRun(1, func() { err = checkJSON(text) })
			if err != nil || made > 1000 {
				t.Errorf("%s: %v, %v allocations", name, err, made)
			}
		})
	}
}

// A compressed form is refused: no part of it is stored as an answer.
func TestFormsSentCompressed(t *testing.T) {
	b := openInbox(t, Options{}, enquiries)
	for coding, status := range map[string]int{"gzip": 415, "deflate, gzip": 415, "br": 415, "identity": 303, "Identity": 303} {
		t.Run(coding, func(t *testing.T) {
			before := b.count(t)
			got := b.do(t, nil, "POST", "/__pages/forms", "form=contact&a=1", formType, "Content-Encoding: "+coding)
			if stored := b.count(t) - before; got.status != status || (stored == 1) != (status < 400) {
				t.Errorf("%s: %d, %d stored: %.200s", coding, got.status, stored, got.body)
			}
		})
	}
}

func TestFilenames(t *testing.T) {
	for _, c := range []struct{ sent, kept string }{
		{"a.pdf", "a.pdf"},
		{"../../etc/passwd", "passwd"},
		{`C:\Users\kim\a b.pdf`, "a b.pdf"},
		{"a\x00b", "ab"},
		{"..", ""},
		{"", ""},
		{"\u202efdp.exe", "fdp.exe"},
		{strings.Repeat("é", 200), strings.Repeat("é", 127)},
		{"a\xff", "a\ufffd"},
		{"/", ""},
	} {
		t.Run(c.sent, func(t *testing.T) {
			if got := cleanFilename(c.sent); got != c.kept {
				t.Errorf("%q is kept as %q", c.sent, got)
			}
		})
	}
}

// A double click sends a form twice, and the visitor meant to send it once.
func TestFormSentTwice(t *testing.T) {
	b := openInbox(t, Options{}, enquiries)
	var wait sync.WaitGroup
	ids := make([]string, 20)
	for i := range ids {
		wait.Go(func() {
			got := b.do(t, nil, "POST", "/__pages/forms/contact", "name=Kim&_token=t1", formType, "Accept: application/json")
			ids[i] = decode[leadDocument](t, got).Lead.ID
		})
	}
	wait.Wait()
	for _, id := range ids {
		if id != ids[0] || id == "" {
			t.Fatalf("several leads: %v", ids)
		}
	}
	if got := b.do(t, nil, "POST", "/__pages/forms/contact", "name=Ann&_token=t1", formType); got.status != 409 {
		t.Errorf("other answers with the same key: %d", got.status)
	}
	if got := b.do(t, nil, "POST", "/__pages/forms/other", "name=Kim", formType, "Idempotency-Key: t1"); got.status != 303 {
		t.Errorf("the same key on another form: %d", got.status)
	}
	if n, rows := len(b.leads(t)), b.rows(t, "SELECT count(*) FROM enquiries"); n != 2 || rows != "2" || len(b.events(t)) != 2 {
		t.Errorf("%d leads, %s rows", n, rows)
	}
}

func TestManyPostsAtOnce(t *testing.T) {
	b := openInbox(t, Options{}, enquiries)
	var wait sync.WaitGroup
	for i := range 100 {
		wait.Go(func() {
			if got := b.do(
				t, nil, "POST", "/__pages/forms/membership", url.Values{"name": {fmt.Sprint(i)}}.Encode(), formType,
			); got.status != http.StatusSeeOther {
				t.Errorf("status %d %s", got.status, got.body)
			}
		})
	}
	wait.Wait()
	if n, e, rows := len(b.leads(t)), len(b.events(t)),
		b.rows(t, "SELECT count(DISTINCT lead_id) FROM enquiries"); n != 100 || e != 200 || rows != "100" {
		t.Errorf("%d leads, %d events, %s rows", n, e, rows)
	}
}

// A failed insert into the table never loses the lead.
func TestSubmissionFailures(t *testing.T) {
	for _, c := range []struct {
		name, schema string
		status       SubmissionStatus
		message      string
	}{
		{"no table", "SELECT 1", SubmissionFailed, `no such table: "enquiries"`},
		{"no column fits", "CREATE TABLE enquiries (id INTEGER PRIMARY KEY, note TEXT DEFAULT 'x')", SubmissionWritten, ""},
		{"not null", "CREATE TABLE enquiries (phone TEXT NOT NULL)", SubmissionFailed, "NOT NULL"},
		{"check", "CREATE TABLE enquiries (name TEXT CHECK (name <> 'Kim'))", SubmissionFailed, "CHECK"},
		{"strict type", "CREATE TABLE enquiries (name INTEGER) STRICT", SubmissionFailed, "INTEGER"},
		{
			"trigger aborts",
			"CREATE TABLE enquiries (name TEXT); CREATE TRIGGER t BEFORE INSERT ON enquiries BEGIN SELECT RAISE(ABORT, 'not today'); END",
			SubmissionFailed, "not today",
		},
		{
			"trigger rolls back",
			"CREATE TABLE enquiries (name TEXT); CREATE TRIGGER t AFTER INSERT ON enquiries BEGIN SELECT RAISE(ROLLBACK, 'all gone'); END",
			SubmissionFailed, "all gone",
		},
		{"view", "CREATE VIEW enquiries AS SELECT 1 AS name", SubmissionFailed, "view"},
		{"visitor's key", "CREATE TABLE enquiries (id INTEGER PRIMARY KEY, name TEXT, lead_id TEXT)", SubmissionWritten, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			b := openInbox(t, Options{}, c.schema)
			got := b.do(t, nil, "POST", "/__pages/forms/contact", "name=Kim&id=99&lead_id=forged", formType)
			leads := b.leads(t)
			if got.status != 303 || len(leads) != 1 || leads[0].Submission.Status != c.status ||
				!strings.Contains(leads[0].Submission.Error, c.message) {
				t.Fatalf("%d %+v", got.status, leads)
			}
			if c.status != SubmissionFailed {
				if n := b.rows(t, "SELECT count(*) FROM enquiries"); n != "1" {
					t.Errorf("%s rows", n)
				}
			} else if n := b.rows(t, "SELECT count(*) FROM sqlite_master WHERE name = '_pages_submissions'"); n != "0" {
				t.Error("half a submission is left")
			}
			if c.name == "visitor's key" {
				if row := b.rows(t, "SELECT id || lead_id FROM enquiries"); row != "1"+leads[0].ID {
					t.Errorf("row %s", row)
				}
			}
		})
	}
}

// A table of the platform never holds submissions, whatever the manifest names: a visitor would write to the ledger of migrations.
func TestSubmissionsOfPlatformTables(t *testing.T) {
	const ledger = "CREATE TABLE _pages_migrations (name TEXT); CREATE TABLE _CF_x (name TEXT)"
	for _, table := range []string{"_pages_migrations", "_Pages_Submissions", "_cf_x"} {
		b := openInbox(t, Options{}, ledger)
		b.site.Swap(Revision{Manifest: &manifest.Manifest{Bindings: manifest.Bindings{Submissions: table}}})
		b.do(t, nil, "POST", "/__pages/forms/contact", "name=Kim", formType)
		leads := b.leads(t)
		if len(leads) != 1 || leads[0].Submission.Status != SubmissionFailed ||
			!strings.Contains(leads[0].Submission.Error, "belong to the platform") {
			t.Errorf("%s: %+v", table, leads)
		}
		if n := b.rows(t, "SELECT (SELECT count(*) FROM _pages_migrations) + (SELECT count(*) FROM _cf_x)"); n != "0" {
			t.Errorf("%s: %s rows", table, n)
		}
	}
}

func TestPreviewRaisesNothing(t *testing.T) {
	b := openInbox(t, Options{Preview: true}, enquiries)
	got := b.do(t, nil, "POST", "/__pages/forms/membership", "name=Kim", formType, "Accept: application/json")
	lead := decode[leadDocument](t, got).Lead
	if !lead.Preview || len(lead.Events) != 0 || len(b.events(t)) != 0 || lead.Submission.Status != SubmissionNone ||
		!strings.Contains(got.body, `"events":[]`) {
		t.Errorf("%s", got.body)
	}
}

func FuzzForm(f *testing.F) {
	f.Add("application/x-www-form-urlencoded", "form=a&b=c&b=d&_next=/x")
	f.Add("application/json", `{"form":"a","b":[{"c":null}]}`)
	f.Add("multipart/form-data; boundary=x", "--x\r\nContent-Disposition: form-data; name=\"a\"; filename=\"b\"\r\n\r\nc\r\n--x--\r\n")
	f.Fuzz(func(t *testing.T, kind, body string) {
		r, err := http.NewRequestWithContext(t.Context(), "POST", "/__pages/forms", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Content-Type", kind)
		form, err := readForm(nil, r, nil)
		if err != nil {
			return
		}
		fields := form.fields()
		text, err := fields.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var again Fields
		if err := again.UnmarshalJSON(text); err != nil || len(again) != len(fields) {
			t.Fatalf("%s: %v", text, err)
		}
		for i, each := range again {
			if each.Name != fields[i].Name {
				t.Fatalf("%q became %q", fields[i].Name, each.Name)
			}
		}
	})
}
