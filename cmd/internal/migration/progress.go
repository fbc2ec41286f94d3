package migration

import (
	"fmt"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/migrate"
)

const (
	progressAfter = time.Second // a shorter run is over before it could be read
	progressEvery = 100 * time.Millisecond
)

// watchProgress shows on a terminal how far a longer run is. stop removes the line again; it may be called twice.
func watchProgress(t *terminal.Terminal) (report func(migrate.Progress), stop func()) {
	if t.JSON || t.Quiet || !terminal.IsTerminal(t.Stderr) {
		return nil, func() {}
	}
	var mu sync.Mutex
	var now migrate.Progress
	begin := t.Now()
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(progressEvery)
		defer ticker.Stop()
		shown := false
		for {
			select {
			case <-ended:
				if shown {
					fmt.Fprint(t.Stderr, "\r\x1b[K")
				}
				return
			case <-ticker.C:
			}
			mu.Lock()
			p := now
			mu.Unlock()
			if took := t.Now().Sub(begin); took >= progressAfter && p.Total > 0 {
				shown = true
				fmt.Fprintf(t.Stderr, "\r\x1b[K[%d/%d] %s  %.1f s", p.Done+1, p.Total, p.Name, took.Seconds())
			}
		}
	}()
	report = func(p migrate.Progress) {
		mu.Lock()
		defer mu.Unlock()
		now = p
	}
	return report, sync.OnceFunc(func() { close(ended); <-done })
}
