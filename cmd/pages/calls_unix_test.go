//go:build unix

package main

import (
	"bytes"
	"io"
	"net/http"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
)

// TestCallsOfAPerson makes a person work for a minute on a service that allows 60 calls: each command makes the few calls that it needs,
// and all of them together stay below the limit.
func TestCallsOfAPerson(t *testing.T) {
	p := startPlatform(t, filepath.Join(t.TempDir(), "data"), "--rate-limit", "60")
	dir := t.TempDir()
	put(t, filepath.Join(dir, "pages.deploy.json"), `{"assets": "public", "bindings": {"database": {"migrations": "migrations"}}}`)
	put(t, filepath.Join(dir, "migrations", "0001_people.sql"), "CREATE TABLE people (name TEXT);\n")
	user := &publisher{t, dir, t.TempDir(), p.URL, p.Keys["member"]}
	left := func() int {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, p.URL+"/api/v1/tools/page.list", bytes.NewReader([]byte("{}")))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+user.key)
		req.Header.Set("Content-Type", "application/json")
		resp, err := p.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		_, _ = io.Copy(io.Discard, resp.Body)
		n, err := strconv.Atoi(resp.Header.Get(toolapi.HeaderRateLimitRemaining))
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	before := left()
	publish := func(text string, args ...string) func() {
		return func() {
			put(t, filepath.Join(dir, "public", "index.html"), text)
			user.publish(args...)
		}
	}
	command := func(args ...string) func() {
		return func() {
			if code, stdout, stderr := user.run(args...); code != 0 {
				t.Fatalf("exit code %d: %s%s", code, stdout, stderr)
			}
		}
	}
	for _, c := range []struct {
		name string
		run  func()
		most int // calls that count against the rate
	}{
		{"a first publish", publish("one", "--site", p.Demo["site_id"]), 11},
		{"whoami", command("whoami"), 1},
		{"a plan", command("deploy", "--plan"), 2},
		{"a publish of another text", publish("two"), 10},
		{"revisions", command("revisions"), 2},
		{"restore points", command("restore", "--list"), 2},
		{"a preview", command("deploy", "--preview"), 5},
		{"previews", command("preview", "list"), 2},
		{"secrets", command("secrets", "list"), 2},
		{"domains", command("domains"), 1},
		{"a tool", command("call", "page.list"), 1},
	} {
		c.run()
		after := left()
		if made := before - after - 1; made > c.most {
			t.Errorf("%s made %d calls, at most %d are needed", c.name, made, c.most)
		}
		before = after
	}
	if before < 1 {
		t.Errorf("%d calls are left of 60", before)
	}
}
