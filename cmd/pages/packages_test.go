package main

import (
	"net/http"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// expectTopics requests each topic of a site of packages and compares the response.
func (d *devServer) expectTopics(want map[string]string, query string) {
	d.t.Helper()
	for topic, body := range want {
		if a := d.get("/" + topic + query); a.StatusCode != http.StatusOK || a.body != body {
			d.t.Errorf("%s: %d\n got %s\nwant %s", topic, a.StatusCode, a.body, body)
		}
	}
}

// packageRequest is a request to an application of a package, with its headers, and
// the expected response: status, headers, and the body or, of an object, its end.
type packageRequest struct {
	method, path, body string
	header             []string
	status             int
	head               []string
	answer             string
}

// expectRequests sends requests to the application at a prefix. ORIGIN in a
// header is the site's own.
func (d *devServer) expectRequests(prefix string, requests []packageRequest) {
	d.t.Helper()
	for _, c := range requests {
		c.header = slices.Clone(c.header) // every run uses the table
		for i, h := range c.header {
			c.header[i] = strings.Replace(h, "ORIGIN", d.URL, 1)
		}
		a := d.do(c.method, prefix+c.path, c.body, c.header...)
		exact := strings.HasPrefix(c.answer, "{") || !strings.HasPrefix(a.body, "{")
		if a.StatusCode != c.status || exact && a.body != c.answer || !strings.HasSuffix(a.body, c.answer) {
			d.t.Errorf("%s %s with %q: %d %q, want %d %q", c.method, c.path, c.header, a.StatusCode, a.body, c.status, c.answer)
		}
		for _, line := range c.head {
			name, value, _ := strings.Cut(line, ": ")
			if !strings.Contains("\n"+strings.Join(a.Header.Values(name), "\n")+"\n", "\n"+value+"\n") {
				d.t.Errorf("%s %s: the head has %q, want %s", c.method, c.path, a.Header.Values(name), line)
			}
		}
	}
}

// runNode runs a script of a site, as the site's own build step would.
func runNode(t *testing.T, dir, script string) {
	t.Helper()
	node := exec.Command("node", script)
	node.Dir = dir
	if out, err := node.CombinedOutput(); err != nil {
		t.Fatalf("node %s: %v\n%s", script, err, out)
	}
}
