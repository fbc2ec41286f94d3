package deploy

import (
	"testing"
	"time"
)

// TestStoredIsMonotonic: the stored time keeps its monotonic reading. Without it, a wall clock set back would prolong the retries of an
// upload by hours, and one set forward would end them at once.
func TestStoredIsMonotonic(t *testing.T) {
	now := time.Now()
	s := &sender{d: &Deployer{Now: func() time.Time { return now }}}
	s.markStored()
	if last := s.storedLast(); last != now {
		t.Errorf("%v became %v", now, last)
	}
}
