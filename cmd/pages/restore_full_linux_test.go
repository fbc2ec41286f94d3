package main

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestRestoreOnAFullDisk: a restore, and a publish with migrations, without room for their restore point, their data or their migrations
// report a full disk, and leave code and data unchanged; with room again, the same confirmation succeeds.
func TestRestoreOnAFullDisk(t *testing.T) {
	disk := testmachine.OwnDisk(t, "64m")
	if disk == nil {
		return
	}
	e := newEmptiedPage(t, startPlatform(t, filepath.Join(disk.Dir, "data")), "Full")
	const old, restored = "mark 2: 9", "mark 1: 1 2 3"
	failed := map[string]int{}
	step := func(tool, confirm, before, after string, room int) {
		t.Helper()
		was := e.points(t)
		spare := filepath.Join(disk.Dir, "spare")
		if err := os.WriteFile(spare, make([]byte, room), 0o600); err != nil {
			t.Fatal(err)
		}
		disk.Fill()
		if err := os.Remove(spare); err != nil {
			t.Fatal(err)
		}
		o := e.tell(t, "member", tool, confirm)
		disk.Empty()
		if !o.OK {
			failed[tool]++
			if o.status != http.StatusInternalServerError || !strings.Contains(o.text, "The service's disk is full; nothing changed") {
				t.Errorf("%s with %d bytes of room: %d %s\n%s", tool, room, o.status, o.text, e.stderr)
			}
			e.whole(t, tool+" without room", before)
			if got := e.points(t); !slices.Equal(got[:len(was)], was) {
				t.Errorf("the restore points are %q, and were %q", got, was)
			}
			if left := leftovers(t, e.data); len(left) != 0 {
				t.Errorf("left behind: %q", left)
			}
			if o = e.tell(t, "member", tool, confirm); !o.OK {
				t.Fatalf("%s with room: %d %s\n%s", tool, o.status, o.text, e.stderr)
			}
		}
		e.whole(t, tool, after)
		if got, want := e.points(t), "["+strings.Join(strings.Fields(before)[2:], " ")+"]"; !strings.HasSuffix(got[len(got)-1], want) {
			t.Errorf("%s: the restore points are %q, and the last one has not the rows %s", tool, got, want)
		}
	}
	for _, room := range []int{0, 64 << 10, 512 << 10, 1 << 20, 3 << 20, 5 << 20} {
		confirm := e.propose(t, "member", "page.restore_data", map[string]any{"point": "p1", "leads": "drop"})
		step("page.restore_data", confirm, old, restored, room)
		confirm = e.propose(t, "member", "page.publish", map[string]any{"revision": e.second})
		step("page.publish", confirm, restored, "mark 2:", room)
		e.add(t, 9)
	}
	for _, tool := range []string{"page.restore_data", "page.publish"} {
		if failed[tool] < 2 {
			t.Errorf("%s found room in %d of 6 times", tool, 6-failed[tool])
		}
	}
	t.Logf("without room: %v", failed)
}
