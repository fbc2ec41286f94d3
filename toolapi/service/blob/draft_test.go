package blob

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

const text = "some content"

func hashOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// TestDraft puts blobs in both ways that drafts are made: without a name and with one.
func TestDraft(t *testing.T) {
	for _, nameless := range []bool{true, false} {
		s, err := Open(t.TempDir(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if runtime.GOOS == "linux" && !s.nameless {
			t.Log("this file system has no files without a name")
		}
		if !s.nameless && nameless {
			continue
		}
		s.nameless = nameless
		put(t, s)
	}
}

func put(t *testing.T, s *Store) {
	t.Helper()
	w := s.Space(3)
	sum, size := hashOf(text), int64(len(text))
	left := func() (n int) {
		t.Helper()
		_ = filepath.WalkDir(s.dir, func(_ string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				n++
			}
			return err
		})
		return n
	}
	var mismatch *MismatchError
	if _, err := w.Put(sum, size, strings.NewReader("Some content")); !errors.As(err, &mismatch) || left() != 0 {
		t.Errorf("nameless %v, other bytes: %v, %d files left", s.nameless, err, left())
	}
	for _, damage := range []func() error{
		func() error { return nil },
		func() error { return os.Truncate(w.Path(sum), 1) }, // another takes its place
		func() error { return os.WriteFile(w.Path(sum), []byte(text+"!"), 0o600) },
		func() error { return os.Remove(w.Path(sum)) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Put(sum, size, strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if kept, err := os.ReadFile(w.Path(sum)); err != nil || string(kept) != text || left() != 1 {
			t.Errorf("nameless %v: kept %q, error %v, %d files", s.nameless, kept, err, left())
		}
		if info, err := os.Stat(w.Path(sum)); err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
			t.Errorf("nameless %v: %v, error %v", s.nameless, info.Mode(), err)
		}
	}
	if err := w.Sync([]string{sum}); err != nil {
		t.Error(err)
	}
}
