package engine_test

import (
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestTrim: an idle isolate returns the freed heap of a request to the system, and keeps the live part.
func TestTrim(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	resident := func() int64 {
		text, err := os.ReadFile("/proc/self/statm")
		if err != nil {
			t.Fatal(err)
		}
		pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return pages * int64(os.Getpagesize())
	}
	code := `globalThis.kept = new Uint8Array(1e6).fill(9); {
		const all = []; for (let i = 0; i < 90; i++) all.push(new Uint8Array(1e6).fill(1)) }; 0`
	if _, err := run(i, scope(t, 0), code); err != nil {
		t.Fatal(err)
	}
	const most = 50 << 20
	high := resident()
	for end := time.Now().Add(30 * time.Second); resident() > high-most; time.Sleep(100 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%d MB then, %d MB now", high>>20, resident()>>20)
		}
	}
	got, err := run(i, scope(t, 0), `kept.every((n) => n === 9) && new Uint8Array(5e7).indexOf(1) < 0`)
	if err != nil || got != "true" {
		t.Errorf("got %s, %v", got, err)
	}
}
