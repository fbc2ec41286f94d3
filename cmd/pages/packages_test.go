package main

import (
	"net/http"
	"os/exec"
	"testing"
)

// expectTopics asks for each topic of a site of packages and compares the
// answer.
func (d *devServer) expectTopics(want map[string]string, query string) {
	d.t.Helper()
	for topic, body := range want {
		if a := d.get("/" + topic + query); a.StatusCode != http.StatusOK || a.body != body {
			d.t.Errorf("%s: %d\n got %s\nwant %s", topic, a.StatusCode, a.body, body)
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
