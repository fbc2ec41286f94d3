package localstate

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/migrate/snapshot"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// TestSettleAlone leaves an interrupted load unchanged while another process uses the state.
func TestSettleAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &State{Dir: t.TempDir()}
		if err := os.Mkdir(filepath.Join(s.Dir, ".load"), 0o700); err != nil {
			t.Fatal(err)
		}
		other := flock.New(filepath.Join(s.Dir, statefolder.StateLock))
		if err := other.RLock(); err != nil {
			t.Fatal(err)
		}
		if err := s.Lock(); err == nil || !snapshot.Unsettled(os.DirFS(s.Dir)) {
			t.Errorf("%v; it was settled beside the other", err)
		}
		if err := other.Unlock(); err != nil {
			t.Fatal(err)
		}
		if err := s.Lock(); err != nil || snapshot.Unsettled(os.DirFS(s.Dir)) {
			t.Errorf("%v; it was not settled", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}
