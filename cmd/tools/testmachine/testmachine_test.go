package testmachine

import (
	"errors"
	"fmt"
	"runtime"
	"testing"
)

// recorder is a test that notes how it is ended.
type recorder struct {
	testing.TB

	said string
}

func (*recorder) Helper() {}

func (r *recorder) Fatalf(format string, args ...any) {
	r.said = "failed: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

func (r *recorder) Skipf(format string, args ...any) {
	r.said = "skipped: " + fmt.Sprintf(format, args...)
	runtime.Goexit()
}

// TestLacks: a skip names the missing thing, and fails in CI.
func TestLacks(t *testing.T) {
	for _, tt := range []struct{ ci, want string }{
		{"", "skipped: not tested here: this machine lacks wings: none grew"},
		{"1", "failed: this machine lacks wings: none grew; with PAGES_CI set everything is tested, or fails"},
	} {
		t.Setenv(Variable, tt.ci)
		r, done := &recorder{TB: t}, make(chan struct{})
		go func() {
			defer close(done)
			Lacks(r, "wings", errors.New("none grew"))
		}()
		<-done
		if r.said != tt.want {
			t.Errorf("%q, want %q", r.said, tt.want)
		}
	}
}

// TestUnraced: only the race detector together with -short skips a test.
func TestUnraced(t *testing.T) {
	skipped := false
	t.Run("", func(t *testing.T) {
		defer func() { skipped = t.Skipped() }()
		Unraced(t)
	})
	if want := Raced() && testing.Short(); skipped != want {
		t.Errorf("skipped: %v, want %v", skipped, want)
	}
}

// TestLong: a long test is skipped, with the reason, unless the variable is set.
func TestLong(t *testing.T) {
	for set, want := range map[string]string{"": "skipped: run by make check: it takes long; PAGES_LONG=1 runs it", "1": ""} {
		t.Setenv(LongVariable, set)
		r, done := &recorder{TB: t}, make(chan struct{})
		go func() {
			defer close(done)
			Long(r)
		}()
		<-done
		if r.said != want {
			t.Errorf("%q, want %q", r.said, want)
		}
	}
}
