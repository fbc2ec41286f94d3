package main

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// TestPublishPowerLoss cuts the power of the disk at random while sites are uploaded, imported, published and rolled back. Every
// acknowledged revision is there, with every byte; the pointer is the last acknowledged one or that of the interrupted request; and the
// site serves that revision completely.
func TestPublishPowerLoss(t *testing.T) {
	needsPower(t)
	power := newDisk(t)
	data := filepath.Join(power.place, "data")
	power.mount()
	p := startPlatform(t, data)
	load := startLedgers(t, p, "Power one", "Power two")
	for range powerLosses {
		load.check(t, p, data)
		load.run(t, p, 2+rand.IntN(40), func() { //nolint:gosec // a choice
			for _, page := range load.pages {
				page.losePower()
			}
			power.cut()
			if err := p.cmd.Process.Kill(); err != nil {
				t.Error(err)
			}
		})
		p.end(t, os.Kill)
		power.unmount()
		power.mount()
		p = startPlatform(t, data)
	}
	load.check(t, p, data)
	p.end(t, os.Interrupt)
	for _, page := range load.pages {
		page.checkHistory(t, data)
	}
	power.unmount()
	t.Logf("%d acknowledged before %d losses of power, %d visits", load.acks(), powerLosses, load.seen.Load())
}
