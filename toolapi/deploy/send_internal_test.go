package deploy

import (
	"testing"
	"time"
)

// TestStoredIsMonotonic gives back the time as the clock gave it: without its monotonic reading, a wall clock that
// is set back would have an upload tried for hours, and one that is set forward end it at once.
func TestStoredIsMonotonic(t *testing.T) {
	now := time.Now()
	s := &sender{d: &Deployer{Now: func() time.Time { return now }}}
	s.markStored()
	if last := s.storedLast(); last != now {
		t.Errorf("%v became %v", now, last)
	}
}
