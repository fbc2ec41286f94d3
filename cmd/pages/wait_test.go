package main

import (
	"strings"
	"testing"
	"time"
)

// wait reads lines until one contains each part in turn.
func wait(t *testing.T, lines <-chan string, parts ...string) {
	t.Helper()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	for _, part := range parts {
		for found := false; !found; {
			select {
			case line, open := <-lines:
				if !open {
					t.Fatalf("the stream ended before %q", part)
				}
				found = strings.Contains(line, part)
			case <-timer.C:
				t.Fatalf("no %q in %v", part, patience)
			}
		}
	}
}
