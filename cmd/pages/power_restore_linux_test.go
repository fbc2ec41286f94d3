package main

import (
	"math/rand/v2"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestRestorePowerLoss is TestRestoreKilled with a disk that loses its power: killing only the process would lose nothing even without any
// sync. After each loss, code and data are completely as before the request without a response, or as after it; and each listed restore
// point keeps its contents.
func TestRestorePowerLoss(t *testing.T) {
	testmachine.Long(t)
	needsDisks(t)
	power := newDisk(t)
	data := filepath.Join(power.place, "data")
	power.mount()
	p := startPlatform(t, data)
	_, port, err := net.SplitHostPort(strings.TrimPrefix(p.URL, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	var dark atomic.Bool
	l := newRestoreLedger(t, p, "Dark")
	l.powerless = dark.Load
	losses := soakRounds(6, powerLosses)
	for range losses {
		left := 1 + rand.IntN(4) //nolint:gosec // a choice
		ended := make(chan struct{})
		l.work(p, func() {
			if left--; left == 0 {
				go func() {
					defer close(ended)
					<-time.After(time.Duration(rand.IntN(60)) * time.Millisecond) //nolint:gosec // a choice
					dark.Store(true)
					power.cut()
					if err := p.cmd.Process.Kill(); err != nil {
						t.Error(err)
					}
				}()
			}
		})
		if left > 0 {
			t.Fatalf("the service answers no more, though it has power\n%s", p.stderr)
		}
		<-ended
		p.end(t, os.Kill)
		power.unmount()
		power.mount()
		dark.Store(false)
		p = startPlatform(t, data, "--port", port)
		l.check(p)
		l.checkPoints(p)
		if t.Failed() {
			t.Fatalf("%s", p.stderr)
		}
	}
	if left := leftovers(t, data); len(left) != 0 {
		t.Errorf("left behind: %q", left)
	}
	p.end(t, os.Interrupt)
	power.unmount()
	t.Logf("%d losses of power, acknowledged %v", losses, l.done)
}
