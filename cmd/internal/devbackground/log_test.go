package devbackground

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// The log stays within its bound, keeps the newest lines whole, and loses none between two of them.
func TestLogIsBounded(t *testing.T) {
	s := &localstate.State{Dir: t.TempDir()}
	if lines, err := Lines(s, 1); err != nil || len(lines) != 0 {
		t.Errorf("without a log: %q %v", lines, err)
	}
	log, err := OpenLog(s)
	if err != nil {
		t.Fatal(err)
	}
	const n = 40_000
	for i := range n {
		if _, err := fmt.Fprintf(log, "line %08d of the output of a server in the background\n", i); err != nil {
			t.Fatal(err)
		}
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(s.Dir, statefolder.DevLogFile))
	if err != nil || info.Size() > maxLog || info.Size() < keptLog/2 {
		t.Errorf("the file has %d bytes, %v", info.Size(), err)
	}
	lines, err := Lines(s, n)
	if err != nil || len(lines) < 1000 {
		t.Fatalf("%d lines, %v", len(lines), err)
	}
	for i, line := range lines {
		if want := fmt.Sprintf("line %08d of the output of a server in the background", n-len(lines)+i); line != want {
			t.Fatalf("line %d is %q, want %q", i, line, want)
		}
	}
	if last, err := Lines(s, 2); err != nil || len(last) != 2 || last[1] != lines[len(lines)-1] {
		t.Errorf("the last two: %q %v", last, err)
	}
}
