package processmemory

import (
	"os"
	"reflect"
	"strconv"
	"strings"
	"testing"
)

func TestMappings(t *testing.T) {
	t.Parallel()
	const text = `00400000-00401000 r-xp 00001000 fd:00 12                         /bin/my pages
Rss:                   4 kB
Anonymous:             0 kB
00401000-00403000 r--p 00002000 fd:00 12                         /bin/my pages
Anonymous:             4 kB
00403000-00404000 rw-p 00004000 fd:00 12                         /bin/my pages
Anonymous:             0 kB
00404000-00405000 r--p 00000000 fd:00 13                         /bin/my pages.so
Anonymous:             0 kB
00405000-00406000 r--p 00000000 00:00 0
Anonymous:             0 kB
7f0000000000-7f0000002000 r--p 00005000 fd:00 12                 /bin/my pages
Anonymous:             0 kB
VmFlags: rd mr mw me
`
	want := []mapping{{0x400000, 0x401000}, {0x7f0000000000, 0x7f0000002000}}
	if got := mappings(text, "/bin/my pages"); !reflect.DeepEqual(got, want) {
		t.Errorf("%x, want %x", got, want)
	}
}

// TestGiveBack: less of the program is in memory, and it still runs.
func TestGiveBack(t *testing.T) {
	before := resident(t)
	GiveBack()
	if after := resident(t); after >= before || before == 0 {
		t.Errorf("%d kB of files after %d kB", after, before)
	}
}

// resident is the kB of files in the memory of this process.
func resident(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "RssFile:"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatal("no RssFile")
	return 0
}
