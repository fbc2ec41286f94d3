package main

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

const (
	// shutDown is EXT4_IOC_SHUTDOWN: the file system stops, as in a power failure.
	shutDown = 0x8004587d
	// noLogFlush is its mode in which the journal is not written either.
	noLogFlush = 2

	powerLosses = 30
)

// needsPower ends a test that needs its own disk if the machine cannot provide one, or if long tests are off.
func needsPower(t *testing.T) {
	t.Helper()
	if os.Getenv("PAGES_SOAK") == "" {
		t.Skip("a part of make soak")
	}
	needsDisks(t)
}

// needsDisks ends a test that needs a disk if the machine cannot provide one.
func needsDisks(t *testing.T) {
	t.Helper()
	if os.Geteuid() != 0 {
		testmachine.Lacks(t, "root, who may mount", nil)
	}
	if _, err := os.Stat("/dev/loop-control"); err != nil {
		testmachine.Lacks(t, "loop devices", err)
	}
	if _, err := exec.LookPath("mkfs.ext4"); err != nil {
		testmachine.Lacks(t, "e2fsprogs", err)
	}
}

// disk is a file system on a loop device that can lose its power.
type disk struct {
	t            *testing.T
	image, place string
}

func newDisk(t *testing.T) *disk {
	t.Helper()
	d := &disk{t, filepath.Join(t.TempDir(), "disk.img"), t.TempDir()}
	if err := os.WriteFile(d.image, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(d.image, 512<<20); err != nil {
		t.Fatal(err)
	}
	d.run("mkfs.ext4", "-q", d.image)
	t.Cleanup(func() { _ = exec.Command("umount", "--lazy", d.place).Run() }) // after a failure
	return d
}

func (d *disk) run(args ...string) {
	d.t.Helper()
	if out, err := exec.Command(args[0], args[1:]...).CombinedOutput(); err != nil {
		d.t.Fatalf("%q: %v: %s", args, err, out)
	}
}

func (d *disk) mount() { d.run("mount", "-o", "loop", d.image, d.place) }

// unmount waits for the end of the file system: a program with its own mounts that started meanwhile, such as a browser in its sandbox,
// holds it longer, and the next mount would be of the file system that has lost its power.
func (d *disk) unmount() {
	d.run("umount", d.place)
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
		held, err := exec.Command("losetup", "--associated", d.image).Output()
		switch {
		case err != nil:
			d.t.Fatalf("losetup: %v", err)
		case len(held) == 0:
			return
		case time.Now().After(deadline):
			d.t.Fatalf("another program holds the disk: %s", held)
		}
	}
}

// cut stops the file system, without a last write. A running fsync may then succeed although its bytes are lost: a ledger must stop
// trusting responses before the cut, not after it.
func (d *disk) cut() {
	root, err := os.Open(d.place)
	if err != nil {
		d.t.Error(err)
		return
	}
	defer root.Close()
	if err := unix.IoctlSetPointerInt(int(root.Fd()), shutDown, noLogFlush); err != nil { //nolint:gosec // a file descriptor
		d.t.Errorf("cut the power: %v", err)
	}
}

// losePower runs a dev server with its state on the disk and cuts the power under its load, this number of times. It returns the server
// after the last cut, and its state folder.
func (d *disk) losePower(site string, times int, load func(server *devServer, cut func())) (server *devServer, state string) {
	d.t.Helper()
	state = filepath.Join(d.place, "state")
	for range times {
		d.mount()
		server := startDev(d.t, site, "--state-dir", state)
		load(server, func() {
			d.cut()
			if err := server.cmd.Process.Kill(); err != nil {
				d.t.Error(err)
			}
		})
		_ = server.cmd.Wait() // killed
		d.unmount()
	}
	d.mount()
	return startDev(d.t, site, "--state-dir", state), state
}

// TestBindingsPowerLoss cuts the power of the disk at random while a Worker writes to all of its bindings: every acknowledged write is
// there afterwards, byte for byte. Killing only the process would lose nothing even without any sync.
func TestBindingsPowerLoss(t *testing.T) {
	needsPower(t)
	power, l := newDisk(t), newLedger()
	d, _ := power.losePower(writerSite(t), powerLosses, func(d *devServer, cut func()) {
		l.check(t, d)
		l.load(d, 20+rand.IntN(200), func() { l.losePower(); cut() }) //nolint:gosec // a choice
	})
	l.check(t, d)
	d.stop()
	power.unmount()
	t.Logf("%d writes were acknowledged before %d losses of power", l.acks, powerLosses)
}

// TestFormsPowerLoss cuts the power of the disk while visitors send forms, with files and
// without.
func TestFormsPowerLoss(t *testing.T) {
	needsPower(t)
	power, l := newDisk(t), &leadLedger{acknowledged: map[string]bool{}}
	d, state := power.losePower(copyExample(t, "riverside"), 20, func(d *devServer, cut func()) {
		l.load(t, d, 20+rand.IntN(60), func() { l.losePower(); cut() }) //nolint:gosec // a choice
	})
	l.check(t, d, state)
	d.stop()
	power.unmount()
}
