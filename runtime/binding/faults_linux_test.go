package binding_test

import (
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/enginetest"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestBindingsFull fills a disk of its own.
func TestBindingsFull(t *testing.T) { testFull(t, enginetest.BuiltIn) }

// TestBindingsFullInWorkerd does so under a Worker in workerd.
func TestBindingsFullInWorkerd(t *testing.T) {
	testmachine.Long(t)
	testFull(t, enginetest.Workerd)
}

func testFull(t *testing.T, engine func(testing.TB) *enginetest.Engine) {
	t.Helper()
	disk := testmachine.OwnDisk(t, "48m")
	if disk == nil {
		return
	}
	newFaulty(t, engine(t), disk.Dir).survive(disk.Fill, disk.Empty, map[string][]string{
		"db":     {"Error: D1_ERROR: database or disk is full: SQLITE_FULL"},
		"kv":     {"Error: KV PUT failed: 500 Internal Server Error: database or disk is full"},
		"stream": {"Error: KV PUT failed: 500 Internal Server Error: database or disk is full"},
		"r2": {
			"Error: put: We encountered an internal error. Please try again. no space left on device (10001)",
			"Please try again. database or disk is full: SQLITE_FULL (10001)",
		},
	})
}
