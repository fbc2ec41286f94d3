package localstate

import (
	"fmt"
	"path/filepath"

	"github.com/gofrs/flock"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// LockAlone locks the state exclusively, so that it can be replaced.
func (s *State) LockAlone() (unlock func(), err error) {
	if err := s.replaceable(); err != nil {
		return nil, err
	}
	undev, err := s.LockDev()
	if err != nil {
		return nil, err
	}
	lock := flock.New(filepath.Join(s.Dir, statefolder.StateLock))
	if err := s.wait(lock.TryLock); err != nil {
		undev()
		return nil, err
	}
	return func() {
		_ = lock.Unlock() // ends with the process in any case
		undev()
	}, nil
}

// replaceable refuses to empty a folder that has the names of a state folder by chance: pages has never written there.
func (s *State) replaceable() error {
	if s.marked {
		return nil
	}
	return failure.Resource("state-foreign",
		fmt.Sprintf(
			"%s may be no state folder: it holds files of the names of a state's, and pages has never run on it",
			wording.QuotePath(statefolder.Real(s.Dir)),
		),
		"give the state folder with --state-dir; if this is one, run pages dev on it once", nil)
}
