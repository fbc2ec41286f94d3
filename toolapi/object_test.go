package toolapi_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pages-toolchain/pages/toolapi"
)

var malformedBodies = []string{
	`null`, `[]`, `"x"`, `1`, `true`, `{"site_id":`, `{} {}`, "\ufeff{}", `{} trailing`,
	strings.Repeat(`{"a":`, 10_000) + `1` + strings.Repeat(`}`, 10_000),
	`{"already_tried":` + strings.Repeat("[", toolapi.MaxDepth) + strings.Repeat("]", toolapi.MaxDepth) + `}`,
	`{"site_id":"a","site_id":"b"}`, `{"site_id":"a","site\u005fid":"a"}`, "{\"title\":\"\xff\"}", `{"title":"\ud800"}`,
	`{'a':1}`, `{"a":01}`, `{"a":NaN}`, `{"a":1,}`, "{\"a\":\"\x01\"}", "\x00", `{"a":+1}`, `{/**/}`,
}

func TestMalformedBodies(t *testing.T) {
	for _, body := range malformedBodies {
		_, err := toolapi.ParseObject([]byte(body))
		refused, ok := errors.AsType[*toolapi.Error](err)
		if !ok || refused.Code != toolapi.CodeMalformedBody || refused.Nested.Code != refused.Code ||
			refused.Nested.Message != refused.Message {
			t.Errorf("%.60q: %v", body, err)
		}
	}
}

func TestEmptyBodyIsAnEmptyObject(t *testing.T) {
	for _, body := range []string{"", " \r\n\t", "{}", " {} "} {
		t.Run(fmt.Sprintf("%q", body), func(t *testing.T) {
			if _, err := toolapi.ParseObject([]byte(body)); err != nil {
				t.Errorf("%q: %v", body, err)
			}
		})
	}
}

// TestFingerprint: which bodies ask for the same thing.
func TestFingerprint(t *testing.T) {
	const of = `{"site_id":"a","revision":1}`
	for body, same := range map[string]bool{
		` { "revision" : 1 , "site_id" : "a" } `:                                                   true,
		`{"site_id":"\u0061","revision":1.0}`:                                                      true,
		`{"site_id":"a","revision":1e0}`:                                                           true,
		`{"site_id":"a","revision":1,"workspace":"w","confirmation_id":"c","idempotency_key":"k"}`: true,
		`{"site_id":"a","revision":2}`:                                                             false,
		`{"site_id":"a","revision":"1"}`:                                                           false,
		`{"site_id":"a"}`:                                                                          false,
		`{"site_id":"a","revision":1,"at":null}`:                                                   false,
		`{"site_id":"A","revision":1}`:                                                             false,
	} {
		t.Run(fmt.Sprintf("%.45s", body), func(t *testing.T) {
			if got := bytes.Equal(fingerprint(t, of), fingerprint(t, body)); got != same {
				t.Errorf("%s: same %t, want %t", body, got, same)
			}
		})
	}
}

func fingerprint(t *testing.T, body string) []byte {
	t.Helper()
	o, err := toolapi.ParseObject([]byte(body))
	if err != nil {
		t.Fatal(err)
	}
	sum, err := o.Fingerprint()
	if err != nil {
		t.Fatal(err)
	}
	return sum
}

var checks = []struct{ tool, body, issues string }{
	{"brand_profile.status", `{}`, ``},
	{"brand_profile.status", `{"workspace":""}`, `workspace: must not be empty`},
	{"brand_profile.status", `{"workspace":null}`, `workspace: must be a string`},
	{"brand_profile.status", `{"Workspace":"a"}`, `Workspace: is unknown; known are: workspace`},
	{"content.status", `{"limit":1}`, ``},
	{"content.status", `{"limit":100.0}`, ``},
	{"content.status", `{"limit":0}`, `limit: must be at least 1`},
	{"content.status", `{"limit":101}`, `limit: must be at most 100`},
	{"content.status", `{"limit":1.5}`, `limit: must be an integer`},
	{"content.status", `{"limit":1e400}`, `limit: must be at most 100`},
	{"content.status", `{"limit":"1"}`, `limit: must be an integer`},
	{
		"content.status", `{"status":"live"}`,
		`status: must be one of draft, variants_in_progress, ready, approved, scheduled, publishing, published, verified, failed`,
	},
	{"content.status", `{"cursor":""}`, `cursor: must not be empty`},
	{"content.status", `{"cursor":"` + strings.Repeat("é", 512) + `"}`, ``},
	{"content.status", `{"cursor":"` + strings.Repeat("é", 513) + `"}`, `cursor: must have at most 512 characters`},
	{
		"content.status", `{"status":1,"format":"x","nope":{}}`,
		`format: must be one of posts, stories, shorts_clips, long_form, articles, podcast|` +
			`nope: is unknown; known are: cursor, format, limit, status, workspace|status: must be a string`,
	},
	{"schedule.read", `{"week":"2026-1-1"}`, `week: must look like a date, such as 2026-11-23`},
	{"domain.point_at_site", `{}`, `domain_id: is required|site_id: is required`},
	{
		"domain.point_at_site", `{"domain_id":"123e4567-e89b-42d3-a456-426614174000","site_id":"{123E4567-E89B-42D3-A456-426614174000}"}`,
		`site_id: must look like a UUID, such as 123e4567-e89b-42d3-a456-426614174000`,
	},
	{"domain.point_at_site", `{"domain_id":"123E4567-E89B-42D3-A456-426614174000","site_id":"123e4567-e89b-42d3-a456-426614174000"}`, ``},
	{"automations.undo_draft", `{"board_id":"b","revision":0}`, ``},
	{"automations.undo_draft", `{"board_id":"b","revision":null}`, `revision: must be an integer`},
	{"automations.undo_draft", `{"board_id":"b","revision":-1}`, `revision: must be at least 0`},
	{"automations.undo_draft", `{"board_id":"b","idempotency_key":""}`, `idempotency_key: must not be empty`},
	{
		"automations.undo_draft", `{"board_id":"b","idempotency_key":"` + strings.Repeat("k", 201) + `"}`,
		`idempotency_key: must have at most 200 characters`,
	},
	{
		"shorts.try_shape", `{"tile_id":"t","already_tried":["a",1,null]}`,
		`already_tried.1: must be a string|already_tried.2: must be a string`,
	},
	{
		"shorts.try_shape", `{"tile_id":"t","already_tried":[` + strings.Repeat(`"a",`, 51) + `"a"]}`,
		`already_tried: must have at most 51 items`,
	},
	{
		"shorts.try_shape", `{"` + strings.Repeat("x", 300) + `":1,"tile_id":"t"}`,
		strings.Repeat("x", 64) + `…: is unknown; known are: already_tried, board_id, tile_id, workspace`,
	},
}

// TestCheck: every issue of a body that needs no server, by path.
func TestCheck(t *testing.T) {
	for _, c := range checks {
		o, err := toolapi.ParseObject([]byte(c.body))
		if err != nil {
			t.Fatalf("%s: %v", c.body, err)
		}
		var got []string
		for _, issue := range o.Check(tool(t, c.tool)) {
			got = append(got, issue.Path+": "+issue.Message)
		}
		if strings.Join(got, "|") != c.issues {
			t.Errorf("%s %s:\n got %s\nwant %s", c.tool, c.body, strings.Join(got, "|"), c.issues)
		}
	}
}

func tool(t testing.TB, name string) *toolapi.Tool {
	t.Helper()
	all := toolapi.NewContract().Tools()
	i := slices.IndexFunc(all, func(d *toolapi.Tool) bool { return d.Name == name })
	if i < 0 {
		t.Fatalf("no tool %s", name)
	}
	return all[i]
}

// FuzzCheck holds our check to a validator of the schema language at large: the same
// bodies are refused, and accepted ones can be decoded.
func FuzzCheck(f *testing.F) {
	for _, body := range malformedBodies {
		f.Add([]byte(body))
	}
	for _, c := range checks {
		f.Add([]byte(c.body))
	}
	type oracle struct {
		tool *toolapi.Tool
		*jsonschema.Resolved
	}
	var oracles []oracle
	for _, d := range toolapi.NewContract().Tools() {
		var s jsonschema.Schema
		if err := s.UnmarshalJSON(d.ArgumentsSchema()); err != nil {
			f.Fatal(err)
		}
		resolved, err := s.Resolve(nil)
		if err != nil {
			f.Fatal(err)
		}
		oracles = append(oracles, oracle{d, resolved})
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		o, err := toolapi.ParseObject(body)
		if err != nil {
			return
		}
		var value map[string]any
		if err := o.Decode(&value); err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		if _, err := o.Fingerprint(); err != nil {
			t.Fatalf("%q: %v", body, err)
		}
		for _, want := range oracles {
			issues, err := o.Check(want.tool), want.Validate(value)
			if (len(issues) == 0) != (err == nil) {
				t.Fatalf("%s %q: %v, and the oracle says %v", want.tool.Name, body, issues, err)
			}
		}
	})
}

func TestHeaders(t *testing.T) {
	for _, c := range []struct {
		sent []string
		key  string
		ok   bool
	}{
		{nil, "", true},
		{[]string{"k"}, "k", true},
		{[]string{`"k"`}, `"k"`, true},
		{[]string{"~"}, "~", true},
		{[]string{strings.Repeat("k", 200)}, strings.Repeat("k", 200), true},
		{[]string{strings.Repeat("k", 201)}, "", false},
		{[]string{""}, "", false},
		{[]string{"a b"}, "", false},
		{[]string{"a\tb"}, "", false},
		{[]string{"é"}, "", false},
		{[]string{"\x7f"}, "", false},
		{[]string{"a", "a"}, "", false},
	} {
		t.Run(fmt.Sprintf("%.10q of %d bytes", c.sent, len(strings.Join(c.sent, ""))), func(t *testing.T) {
			got, err := toolapi.HeaderKey(http.Header{toolapi.HeaderIdempotencyKey: c.sent})
			if got != c.key || (err == nil) != c.ok {
				t.Errorf("H-003/H-004 %q: %q %v", c.sent, got, err)
			}
		})
	}
	for id, ok := range map[string]bool{
		"a": true, strings.Repeat("a", 128): true, strings.Repeat("a", 129): false, "-a": false, "a b": false,
		"é": false, "a\r\nb": false, "": false, "a._:-9": true,
	} {
		t.Run(fmt.Sprintf("%.10q of %d bytes", id, len(id)), func(t *testing.T) {
			if _, got := toolapi.RequestID(http.Header{toolapi.HeaderRequestID: {id}}); got != ok {
				t.Errorf("H-048 %q: %t", id, got)
			}
		})
	}
	if _, ok := toolapi.RequestID(http.Header{toolapi.HeaderRequestID: {"a", "b"}}); ok {
		t.Error("H-048: two lines were taken")
	}
}
