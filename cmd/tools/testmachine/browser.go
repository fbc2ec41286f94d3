//go:build browser

package testmachine

import (
	"context"
	"fmt"
	"os/exec"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
)

// starts bounds the attempts to start a browser: Chromium sometimes ends before it listens.
const starts = 3

// Browser starts a Chromium that ends with the test, and returns the context of its first tab. It fails t if Chromium is
// missing or does not start.
func Browser(t testing.TB) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("the browser tests need Chromium: apt-get install chromium")
	}
	for try := 1; ; try++ {
		allocator, stop := chromedp.NewExecAllocator(t.Context(), append(chromedp.DefaultExecAllocatorOptions[:],
			chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.WindowSize(1280, 900),
			chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))...)
		ctx, leave := chromedp.NewContext(allocator)
		err := chromedp.Do(ctx) // starts the browser, which lives as long as ctx
		if err == nil {
			t.Cleanup(stop)
			t.Cleanup(leave)
			return ctx
		}
		leave()
		stop()
		if try == starts {
			t.Fatalf("Chromium did not start in %d tries: %v", starts, err)
		}
		t.Logf("Chromium did not start, trying again: %v", err)
	}
}

// Until waits until a JavaScript expression is true, across reloads, and fails after limit. While a page is being replaced,
// evaluation fails and is retried.
func Until(expression string, limit time.Duration) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, target *chromedp.Target) error {
		bounded, cancel := context.WithTimeout(ctx, limit)
		defer cancel()
		pace := time.NewTicker(20 * time.Millisecond)
		defer pace.Stop()
		for {
			is, err := chromedp.Evaluate[bool]("!!("+expression+")")(bounded, target)
			if err == nil && is {
				return nil
			}
			select {
			case <-pace.C:
			case <-bounded.Done():
				return fmt.Errorf("not true: %s (%w)", expression, err)
			}
		}
	})
}
