package workerd

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

// TestGroupMemory: the smallest limit of all groups of a process applies.
func TestGroupMemory(t *testing.T) {
	for _, c := range []struct {
		name, groups string
		files        map[string]string
		want         int64
	}{
		{"none", "0::/\n", nil, math.MaxInt64},
		{"no limit", "0::/a\n", map[string]string{"a/memory.max": "max\n"}, math.MaxInt64},
		{"a container", "0::/\n", map[string]string{"memory.max": "536870912\n"}, 536870912},
		{"its path on the host", "0::/docker/0123\n", map[string]string{"memory.max": "536870912\n"}, 536870912},
		{"a unit in a slice", "0::/system.slice/pages.service\n", map[string]string{
			"system.slice/pages.service/memory.max": "max\n", "system.slice/memory.max": "1000000\n", "memory.max": "2000000\n",
		}, 1000000},
		{"the first version", "5:cpu,memory:/a/b\n4:pids:/c\n0::/\n", map[string]string{
			"memory/a/memory.limit_in_bytes": "3000000\n", "memory/c/memory.limit_in_bytes": "5\n",
			"memory/memory.limit_in_bytes": "9223372036854771712\n",
		}, 3000000},
		{"what climbs out", "0::/../../a\n", map[string]string{"a/memory.max": "7\n"}, 7},
		{"nonsense", "memory\n\n4:memory\n0::/\n", map[string]string{"memory.max": "-5\n"}, math.MaxInt64},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := t.TempDir()
			for name, text := range c.files {
				file := filepath.Join(root, name)
				if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if got := groupMemory(root, c.groups); got != c.want {
				t.Errorf("got %d, want %d", got, c.want)
			}
		})
	}
}
