package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
)

// TestMorePackages runs what the documentation of some 70 packages shows first. What workerd answers, at the compatibility date
// 2026-10-01 with the flag nodejs_compat, is in workerd.json.
func TestMorePackages(t *testing.T) {
	dir := filepath.Join(copyExample(t, "packages"), "more")
	text, err := os.ReadFile(filepath.Join(dir, "workerd.json"))
	if err != nil {
		t.Fatal(err)
	}
	var got, want map[string]string
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	answer := startDev(t, dir).get("/")
	if err := json.Unmarshal([]byte(answer.body), &got); err != nil {
		t.Fatalf("%d %s", answer.StatusCode, answer.body)
	}
	for name, value := range want {
		if got[name] != value {
			t.Errorf("%s\n got %s\nwant %s", name, got[name], value)
		}
	}
}
