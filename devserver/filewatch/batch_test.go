package filewatch

import (
	"slices"
	"testing"
	"time"
)

func TestBatchDue(t *testing.T) {
	start := time.Unix(1000, 0)
	ms := time.Millisecond
	burst := func(n int, gap time.Duration) []time.Duration {
		var at []time.Duration
		for i := range n {
			at = append(at, time.Duration(i)*gap)
		}
		return at
	}
	tests := []struct {
		name   string
		events []time.Duration
		want   time.Duration
	}{
		{"one save", []time.Duration{0}, 15 * ms},
		{"write, then rename", []time.Duration{0, 10 * ms}, 25 * ms},
		{"a storm waits longer", burst(17, ms), 16*ms + 120*ms},
		{"never quiet", burst(4000, ms), 3000 * ms},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := batch{quiet: settleQuiet, storm: settleStorm, most: settleMost}
			for _, at := range test.events {
				b.add("/site/a.css", false, start.Add(at))
			}
			if got := b.due().Sub(start); got != test.want {
				t.Errorf("%s: due after %v, want %v", test.name, got, test.want)
			}
		})
	}
}

func TestBatchTake(t *testing.T) {
	now := time.Unix(1000, 0)
	b := batch{quiet: settleQuiet, storm: settleStorm, most: settleMost}
	b.add("/b.css.tmp", true, now) // appeared and disappeared
	b.add("/b.css", true, now)
	b.add("/b.css", true, now)
	b.add("/a.css", false, now) // was deleted
	exists := func(path string) bool { return path == "/b.css" }
	changed, all := b.take(exists)
	if want := []string{"/a.css", "/b.css"}; !slices.Equal(changed, want) || all {
		t.Errorf("take = %v, %v; want %v", changed, all, want)
	}
	if !b.empty() {
		t.Error("not empty after take")
	}
	b.addAll(now)
	if _, all := b.take(exists); !all {
		t.Error("addAll was forgotten")
	}
}

func TestIgnored(t *testing.T) {
	tests := map[string]bool{
		".": false, "index.html": false, "css/site.css": false, ".well-known/security.txt": false,
		".assetsignore": false, "a.swf": false, "x.tmp": false,
		".git/HEAD": true, "node_modules/x/index.js": true, "sub/node_modules": true, ".pages/state/site.db": true,
		".index.html.swp": true, ".a.swx": true, "a.html~": true, "#a.html#": true, ".#a.html": true, "4913": true,
		".DS_Store": true, "a.js___jb_tmp___": true,
	}
	for rel, want := range tests {
		t.Run(rel, func(t *testing.T) {
			if got := isIgnored(rel); got != want {
				t.Errorf("ignored(%q) = %v, want %v", rel, got, want)
			}
		})
	}
}
