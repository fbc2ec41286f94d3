package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestD008Traversal requests files from the dev server that no site serves: files beside the assets, hidden ones, sources, and the
// machine's own.
func TestD008Traversal(t *testing.T) {
	dir := copyExample(t, "riverside")
	const canary = "nobody-may-read-this"
	for _, name := range []string{".env", ".dev.vars", ".git/config", "notes.txt"} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("ARCHIVE_KEY="+canary+"\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		})
	}
	d := startDev(t, dir)
	for target := range strings.FieldsSeq(`
		/../.env /../../etc/passwd /%2e%2e/.env /%2e%2e/%2e%2e/etc/passwd /..%2f.env /%252e%252e/.env /..%5c.env /..\.env /....//.env
		/a/%00 /a%00/../.env
		/file%3a///etc/passwd //etc/passwd /@fs/etc/passwd /@fs` + dir +
		`/.env /.git/config /.env /.env?raw /.dev.vars /%2eenv /.ENV /.env. /.env%20 /.env::$DATA
		/pages.deploy.json /wrangler.json /migrations/0001_crews_and_outings.sql /node_modules/hono/package.json
		/src/worker.ts /src/worker.ts.map
		/worker.js.map /notes.txt
		/.pages/state/site.db /.pages/state/dev.json /css/../../.env /css/..%2f..%2f.env /css/%2e%2e/%2e%2e/.env http://localhost/../.env
		/_headers /_redirects`) {
		answer := rawAnswer(t, d.URL, target)
		status := 0
		if _, err := fmt.Sscanf(string(answer), "HTTP/1.1 %d ", &status); err != nil || status != 400 && status != 404 {
			t.Errorf("%s: %.100q", target, answer)
		}
		for _, hidden := range []string{canary, "root:", "CREATE TABLE", "export default", "SQLite format", `"token"`} {
			t.Run(hidden, func(t *testing.T) {
				if bytes.Contains(answer, []byte(hidden)) {
					t.Errorf("%s shows %q", target, hidden)
				}
			})
		}
	}
}

// rawAnswer sends a request line unchanged and returns the whole response.
func rawAnswer(t *testing.T, base, target string) []byte {
	t.Helper()
	c, err := net.Dial("tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if err := c.SetDeadline(time.Now().Add(patience)); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(c, "GET %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n", target)
	answer, err := io.ReadAll(c)
	if err != nil {
		t.Fatalf("%s: %v", target, err)
	}
	return answer
}
