package pin

import (
	"slices"
	"testing"
)

// TestKeep: bytes stay for their readers, and can be removed after the last one.
func TestKeep(t *testing.T) {
	s := NewSet()
	if s.Keep("free") {
		t.Error("bytes without a reader are kept")
	}
	s.Add("read")
	s.Add("read")
	if !s.Keep("read") || len(s.TakeLoose()) != 0 {
		t.Error("bytes with readers are not kept")
	}
	s.Remove("read")
	if loose := s.TakeLoose(); len(loose) != 0 {
		t.Errorf("%v is loose while it is read", loose)
	}
	s.Remove("read")
	if loose := s.TakeLoose(); !slices.Equal(loose, []string{"read"}) || len(s.TakeLoose()) != 0 {
		t.Errorf("loose: %v, want the file that was read, once", loose)
	}
}
