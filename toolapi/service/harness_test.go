package service_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/oracle"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// clock has a time of day and an elapsed time, which tests advance.
type clock struct {
	mu      sync.Mutex
	wall    time.Time
	elapsed time.Duration
}

// start is a Wednesday.
var start = time.Date(2026, time.November, 25, 12, 0, 0, 0, time.UTC)

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.wall
}

func (c *clock) since() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.elapsed
}

// pass lets time pass; step sets the wall clock forward or back.
func (c *clock) pass(d time.Duration) {
	c.mu.Lock()
	c.wall, c.elapsed = c.wall.Add(d), c.elapsed+d
	c.mu.Unlock()
}
func (c *clock) step(d time.Duration) { c.mu.Lock(); c.wall = c.wall.Add(d); c.mu.Unlock() }

// fixture is a service on a real file and real HTTP, with the demo's data.
type fixture struct {
	testing.TB
	*clock
	path    string
	service *service.Service
	server  *httptest.Server
	demo    service.Demo
	logs    *lockedBuffer
	oracle  *oracle.Oracle
	schemas *responseSchemas
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// compared is done once the document that is served was compared with the contract's.
var compared sync.Once

// document is the interface description of the contract.
var document = sync.OnceValues(func() ([]byte, error) { return toolapi.NewContract().OpenAPI() })

func newFixture(t testing.TB) *fixture {
	t.Helper()
	return newFixtureAt(t, filepath.Join(t.TempDir(), "platform.db"))
}

func newFixtureAt(t testing.TB, path string) *fixture {
	t.Helper()
	w := &fixture{TB: t, clock: &clock{wall: start}, path: path, logs: &lockedBuffer{}}
	document, err := document()
	if err != nil {
		t.Fatal(err)
	}
	if w.schemas, err = contractSchemas(); err != nil {
		t.Fatal(err)
	}
	w.oracle = oracle.New(t, document)
	w.open()
	t.Cleanup(w.close)
	compared.Do(func() {
		if served := w.request("GET", toolapi.OpenAPIPath, "", "").body; !bytes.Equal(served, document) {
			t.Errorf("the document that is served is another one")
		}
	})
	return w
}

func (w *fixture) open() {
	w.Helper()
	var err error
	w.service, err = service.Open(w.Context(), w.path, service.Options{
		Now: w.now, Elapsed: w.since, PerMinute: 100_000, Logger: slog.New(slog.NewJSONHandler(w.logs, nil)),
	})
	if err != nil {
		w.Fatal(err)
	}
	if w.demo, err = w.service.Seed(w.Context()); err != nil {
		w.Fatal(err)
	}
	w.server = httptest.NewServer(w.oracle.Handler(w.service))
}

func (w *fixture) close() {
	w.server.Close()
	if err := w.service.Close(); err != nil {
		w.Error(err)
	}
}

// in returns the fixture for a subtest, to which it then reports.
func (w *fixture) in(t testing.TB) *fixture {
	sub := *w
	sub.TB = t
	return &sub
}

// restart closes the service and opens it on the same file.
func (w *fixture) restart() {
	w.close()
	w.open()
}

type response struct {
	status int
	header http.Header
	body   []byte
	fields map[string]any
}

func (a response) code() string { s, _ := a.fields["code"].(string); return s }

func (a response) text(name string) string { s, _ := a.fields[name].(string); return s }

// request sends one request with a key, or none for "".
func (w *fixture) request(method, path, key, body string, header ...string) response {
	w.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(w.Context()), method, w.server.URL+path, strings.NewReader(body))
	if err != nil {
		w.Fatal(err)
	}
	if key != "" {
		r.Header.Set("Authorization", "Bearer "+key)
	}
	if body != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header[http.CanonicalHeaderKey(header[i])] = append(r.Header[http.CanonicalHeaderKey(header[i])], header[i+1])
	}
	return w.send(r)
}

func (w *fixture) send(r *http.Request) response {
	w.Helper()
	resp, err := w.server.Client().Do(r)
	if err != nil {
		w.Fatal(err)
	}
	defer resp.Body.Close()
	a := response{status: resp.StatusCode, header: resp.Header}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		w.Fatal(err)
	}
	if strings.HasPrefix(resp.Header.Get("Content-Type"), "application/json") && bytes.HasPrefix(a.body, []byte("{")) {
		if err := json.Unmarshal(a.body, &a.fields); err != nil {
			w.Fatalf("%s: %v", a.body, err)
		}
	}
	if a.header.Get("x-service-api") != "beta" || a.header.Get("x-request-id") == "" {
		w.Errorf("%s %s: headers %v", r.Method, r.URL.Path, a.header)
	}
	if name, ok := strings.CutPrefix(r.URL.Path, toolapi.ToolsPath); ok && r.Method == http.MethodPost {
		w.schemas.check(w.TB, name, a)
	}
	return a
}

// call calls a tool with one of the demo's keys.
func (w *fixture) call(key, tool, body string, header ...string) response {
	w.Helper()
	return w.request(http.MethodPost, toolapi.ToolsPath+tool, w.demo.Keys[key], body, header...)
}

// ok calls a tool that must succeed.
func (w *fixture) ok(key, tool, body string, header ...string) response {
	w.Helper()
	a := w.call(key, tool, body, header...)
	if a.status != http.StatusOK || a.fields["ok"] != true {
		w.Fatalf("%s %s: %d %s", tool, body, a.status, a.body)
	}
	return a
}

// refused calls a tool that must refuse with a code.
func (w *fixture) refused(code, key, tool, body string, header ...string) response {
	w.Helper()
	a := w.call(key, tool, body, header...)
	if a.code() != code || a.fields["ok"] != false {
		w.Errorf("%s %s: want %s, got %d %s", tool, body, code, a.status, a.body)
	}
	return a
}

// sql runs statements on the service's file from outside.
func (w *fixture) sql(query string, args ...any) {
	w.Helper()
	db := w.openDB()
	defer db.Close()
	if _, err := db.ExecContext(w.Context(), query, args...); err != nil {
		w.Fatalf("%s: %v", query, err)
	}
}

// value is the only value of a query.
func (w *fixture) value(query string, args ...any) string {
	w.Helper()
	db := w.openDB()
	defer db.Close()
	var v sql.NullString
	if err := db.QueryRowContext(w.Context(), query, args...).Scan(&v); err != nil {
		w.Fatalf("%s: %v", query, err)
	}
	return v.String
}

func (w *fixture) openDB() *sql.DB {
	w.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.ToSlash(w.path)+"?_pragma=busy_timeout(10000)")
	if err != nil {
		w.Fatal(err)
	}
	return db
}

// snapshot returns the text of every table, to compare, except those named.
func (w *fixture) snapshot(except ...string) string {
	w.Helper()
	db := w.openDB()
	defer db.Close()
	var out strings.Builder
	names := w.column(db, "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name")
	for _, name := range names {
		if strings.Contains(" "+strings.Join(except, " ")+" ", " "+name+" ") {
			continue
		}
		columns := w.column(db, "SELECT 'quote(' || name || ')' FROM pragma_table_info('"+name+"')")
		rows := w.column(db, "SELECT "+strings.Join(columns, " || ',' || ")+" FROM "+name+" ORDER BY 1")
		out.WriteString(name + "\n" + strings.Join(rows, "\n") + "\n")
	}
	return out.String()
}

func (w *fixture) column(db *sql.DB, query string) (all []string) {
	w.Helper()
	rows, err := db.QueryContext(w.Context(), query)
	if err != nil {
		w.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s string
		if err := rows.Scan(&s); err != nil {
			w.Fatal(err)
		}
		all = append(all, s)
	}
	if err := rows.Err(); err != nil {
		w.Fatal(err)
	}
	return all
}

// js is JSON from pairs of names and values.
func js(pairs ...any) string {
	object := map[string]any{}
	for i := 0; i < len(pairs); i += 2 {
		object[fmt.Sprint(pairs[i])] = pairs[i+1]
	}
	text, _ := json.Marshal(object)
	return string(text)
}

// responseSchemas validates parts of tool responses that the oracle does not: the rate headers, and which schema of the service's document
// the response has.
type responseSchemas struct {
	schemas map[string]*jsonschema.Resolved
}

// contractSchemas are those of the contract, for all tests.
var contractSchemas = sync.OnceValues(func() (*responseSchemas, error) {
	document, err := document()
	if err != nil {
		return nil, err
	}
	var parsed struct {
		Components struct {
			Schemas map[string]*jsonschema.Schema
		}
	}
	if err := json.Unmarshal(document, &parsed); err != nil {
		return nil, err
	}
	o := &responseSchemas{schemas: map[string]*jsonschema.Resolved{}}
	for name, s := range parsed.Components.Schemas {
		resolved, err := s.Resolve(nil)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		o.schemas[name] = resolved
	}
	return o, nil
})

func (o *responseSchemas) check(t testing.TB, tool string, a response) {
	t.Helper()
	rated := a.status != http.StatusUnauthorized && a.status != http.StatusForbidden && a.status != http.StatusServiceUnavailable
	for _, name := range []string{"RateLimit-Limit", "RateLimit-Remaining", "RateLimit-Reset"} {
		n, err := strconv.Atoi(a.header.Get(name))
		if rated && (err != nil || n < 0 || n == 0 && name != "RateLimit-Remaining") || !rated && a.header.Get(name) != "" {
			t.Errorf("%s %d: %s is %q", tool, a.status, name, a.header.Get(name))
		}
	}
	schema := "Error"
	if a.status == http.StatusOK {
		schema = tool + ".result"
		if a.fields["ok"] == false {
			schema = "ToolRefusal"
			if e := a.header.Get("x-service-tool-error"); e != "true" && e != "false" {
				t.Errorf("%s: x-service-tool-error is %q", tool, e)
			}
		}
	}
	if err := o.schemas[schema].Validate(a.fields); err != nil {
		t.Errorf("%s: %s is no %s: %v", tool, a.body, schema, err)
	}
	if deprecated := a.header.Get("Deprecation") != ""; schema == "Error" && !deprecated {
		t.Errorf("%s: a nested error without Deprecation", tool)
	}
}
