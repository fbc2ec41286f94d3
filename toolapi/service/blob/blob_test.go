package blob_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

func open(t testing.TB, dir string) *blob.Store {
	t.Helper()
	s, err := blob.Open(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// files are those below a folder.
func files(t testing.TB, dir string) (all []string) {
	t.Helper()
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			name, _ := filepath.Rel(dir, path)
			all = append(all, filepath.ToSlash(name))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestPut(t *testing.T) {
	dir := t.TempDir()
	w := open(t, dir).Space(7)
	const text = "some content"
	sum := hash(text)
	var mismatch *blob.MismatchError
	for name, c := range map[string]struct {
		sum    string
		reader io.Reader
	}{
		"short": {sum, strings.NewReader(text[1:])}, "long": {sum, strings.NewReader(text + "!")},
		"other bytes": {sum, strings.NewReader(strings.ToUpper(text))},
		"no hash":     {"../../x", strings.NewReader(text)}, "upper case": {strings.ToUpper(sum), strings.NewReader(text)},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := w.Put(c.sum, int64(len(text)), c.reader); !errors.As(err, &mismatch) {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	broken := errors.New("the line is cut")
	for name, fails := range map[string]io.Reader{
		"within":            io.MultiReader(strings.NewReader(text[:4]), iotest.ErrReader(broken)),
		"at the end":        io.MultiReader(strings.NewReader(text), iotest.ErrReader(errors.Join(broken, io.EOF))),
		"byte by byte":      iotest.OneByteReader(io.MultiReader(strings.NewReader(text[:4]), iotest.ErrReader(broken))),
		"before its length": io.MultiReader(strings.NewReader(text[:4]), iotest.ErrReader(errors.Join(broken, io.ErrUnexpectedEOF))),
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := w.Put(sum, int64(len(text)), fails); !errors.Is(err, broken) {
				t.Errorf("a reader that fails %s: %v", name, err)
			}
		})
	}
	if left := files(t, dir); len(left) != 0 || w.Has(sum, int64(len(text))) {
		t.Fatalf("a refused blob left %q", left)
	}
	for _, had := range []bool{false, true} {
		if got, err := w.Put(sum, int64(len(text)), strings.NewReader(text)); err != nil || got != had {
			t.Errorf("put: had %v, %v", got, err)
		}
	}
	if _, err := w.Put(sum, int64(len(text)), strings.NewReader("other bytes.")); !errors.As(err, &mismatch) || mismatch.Size {
		t.Errorf("other bytes for a blob that is there: %v", err)
	}
	if err := errors.Join(w.Sync([]string{sum}), w.Verify(sum, int64(len(text)))); err != nil {
		t.Error(err)
	}
	if got := files(t, dir); len(got) != 1 || got[0] != "7/"+sum[:2]+"/"+sum[2:] {
		t.Errorf("files %q", got)
	}
	if contents, err := os.ReadFile(w.Path(sum)); err != nil || string(contents) != text {
		t.Errorf("%q %v", contents, err)
	}
}

// TestPutLarge puts blobs that are around the size in which they are written.
func TestPutLarge(t *testing.T) {
	w := open(t, t.TempDir()).Space(1)
	for _, size := range []int{0, 1, 1<<16 - 1, 1 << 16, 1<<16 + 1, 3<<16 + 5} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			text := strings.Repeat("0123456789abcdef", size/16+1)[:size]
			for name, r := range map[string]io.Reader{
				"whole": strings.NewReader(text), "in halves": iotest.HalfReader(strings.NewReader(text)),
				"end with data": iotest.DataErrReader(strings.NewReader(text)),
			} {
				if _, err := w.Put(hash(text), int64(size), r); err != nil {
					t.Errorf("%d bytes %s: %v", size, name, err)
				}
				got, err := os.ReadFile(w.Path(hash(text)))
				if err != nil || string(got) != text {
					t.Errorf("%d bytes %s: %d bytes were kept, %v", size, name, len(got), err)
				}
				if err := os.Remove(w.Path(hash(text))); err != nil {
					t.Error(err)
				}
			}
		})
	}
}

// TestDamage puts the bytes back of a blob that was cut or lost, and finds one whose
// bytes changed.
func TestDamage(t *testing.T) {
	w := open(t, t.TempDir()).Space(1)
	const text = "some content"
	sum := hash(text)
	put := func() {
		t.Helper()
		if _, err := w.Put(sum, int64(len(text)), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		if err := w.Verify(sum, int64(len(text))); err != nil {
			t.Fatal(err)
		}
	}
	put()
	for name, damage := range map[string]func() error{
		"cut": func() error { return os.Truncate(w.Path(sum), 3) }, "gone": func() error { return os.Remove(w.Path(sum)) },
	} {
		if err := damage(); err != nil {
			t.Fatal(err)
		}
		if w.Has(sum, int64(len(text))) {
			t.Errorf("%s: it is there", name)
		}
		put()
	}
	if err := os.WriteFile(w.Path(sum), []byte("Some content"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := w.Verify(sum, int64(len(text))); err == nil {
		t.Error("flipped bits were not found")
	}
}

// TestOpenClearsAway: Open removes half-written files, and no others.
func TestOpenClearsAway(t *testing.T) {
	dir := t.TempDir()
	if _, err := open(t, dir).Space(1).Put(hash("a"), 1, strings.NewReader("a")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "tmp", "half"), []byte("ha"), 0o600); err != nil {
		t.Fatal(err)
	}
	open(t, dir)
	if left := files(t, dir); len(left) != 1 {
		t.Errorf("left %q", left)
	}
}

func TestCollect(t *testing.T) {
	s := open(t, t.TempDir())
	one, other := s.Space(1), s.Space(2)
	for _, w := range []*blob.Space{one, other} {
		for _, text := range []string{"kept", "pinned", "loose"} {
			if _, err := w.Put(hash(text), int64(len(text)), strings.NewReader(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	release := one.Pin(hash("pinned"))
	wanted := func(workspace int64, sums map[string]bool) error {
		if workspace == 1 {
			delete(sums, hash("kept"))
			return nil
		}
		clear(sums)
		return nil
	}
	if n, err := s.Collect(wanted); err != nil || n != 1 || !one.Has(hash("kept"), 4) || !one.Has(hash("pinned"), 6) ||
		one.Has(hash("loose"), 5) || !other.Has(hash("loose"), 5) {
		t.Errorf("collected %d, %v", n, err)
	}
	release()
	if n, err := s.Collect(wanted); err != nil || n != 1 || one.Has(hash("pinned"), 6) {
		t.Errorf("collected %d, %v", n, err)
	}
	failed := errors.New("the database is gone")
	if n, err := s.Collect(func(int64, map[string]bool) error { return failed }); !errors.Is(err, failed) || n != 0 {
		t.Errorf("collected %d, %v", n, err)
	}
}

func TestTogether(t *testing.T) {
	w := open(t, t.TempDir()).Space(1)
	for round := range 20 {
		text := strings.Repeat(fmt.Sprint(round, " "), 5000)
		var all sync.WaitGroup
		for n := range 8 {
			all.Go(func() {
				sent := []byte(text)
				if n%2 == 1 {
					sent[len(sent)/2] ^= 1
				}
				_, err := w.Put(hash(text), int64(len(text)), bytes.NewReader(sent))
				if (err == nil) != (n%2 == 0) {
					t.Errorf("%d: %v", n, err)
				}
			})
		}
		all.Wait()
		if err := w.Verify(hash(text), int64(len(text))); err != nil {
			t.Error(err)
		}
	}
}
