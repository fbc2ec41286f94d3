package blob_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// TestMissing finds of many blobs, in many folders, exactly those that Has does not.
func TestMissing(t *testing.T) {
	w := open(t, t.TempDir()).Space(1)
	var all []blob.Blob
	for i := range 1000 {
		text := fmt.Sprint("text ", i)
		all = append(all, blob.Blob{SHA256: hash(text), Size: int64(len(text))})
		if i < 600 {
			if _, err := w.Put(hash(text), int64(len(text)), strings.NewReader(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	for i, damage := range []func(file string) error{
		os.Remove,
		func(file string) error { return os.Truncate(file, 1) },
		func(file string) error { return os.WriteFile(file, []byte("longer than it was"), 0o600) },
		func(file string) error { return os.Rename(file, file+"x") },
		func(file string) error { return remade(file, func() error { return os.Mkdir(file, 0o700) }) },
		func(file string) error {
			return remade(file, func() error { return os.Symlink(w.Path(all[100].SHA256), file) })
		},
		func(file string) error { return os.RemoveAll(filepath.Dir(file)) },
	} {
		if err := damage(w.Path(all[i].SHA256)); err != nil {
			t.Fatal(err)
		}
	}
	all = append(all, blob.Blob{SHA256: "../../../../etc/passwd", Size: 1}, blob.Blob{SHA256: strings.ToUpper(all[50].SHA256), Size: 7},
		blob.Blob{SHA256: all[60].SHA256, Size: all[60].Size + 1}, blob.Blob{})
	slices.SortFunc(all, func(a, b blob.Blob) int { return strings.Compare(a.SHA256, b.SHA256) })
	want := slices.DeleteFunc(slices.Clone(all), func(b blob.Blob) bool { return w.Has(b.SHA256, b.Size) })
	if got := w.Missing(all); !slices.Equal(got, want) || len(want) < 400+7+4 || len(want) > 500 {
		t.Errorf("%d are missing, and by themselves %d", len(got), len(want))
	}
	if got := w.Missing(nil); len(got) != 0 {
		t.Errorf("of none, %v are missing", got)
	}
}

func remade(file string, do func() error) error {
	if err := os.Remove(file); err != nil {
		return err
	}
	return do()
}

// TestMissingAgain looks repeatedly and finds every change: an earlier look must not hide one.
func TestMissingAgain(t *testing.T) {
	dir := t.TempDir()
	s := open(t, dir)
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := s.Space(1)
	var all []blob.Blob
	put := func(w *blob.Space, text string) blob.Blob {
		t.Helper()
		if _, err := w.Put(hash(text), int64(len(text)), strings.NewReader(text)); err != nil {
			t.Fatal(err)
		}
		return blob.Blob{SHA256: hash(text), Size: int64(len(text))}
	}
	for i := range 600 {
		all = append(all, put(w, fmt.Sprint("text ", i)))
	}
	file := func(i int) string { return w.Path(all[i].SHA256) }
	beside := filepath.Join(t.TempDir(), "beside")
	slices.SortFunc(all, func(a, b blob.Blob) int { return strings.Compare(a.SHA256, b.SHA256) })
	for _, c := range []struct {
		name   string
		missed int // blobs, at least
		change func() error
	}{
		{"nothing", 0, func() error { return nil }},
		{"one is removed", 1, func() error { return os.Remove(file(1)) }},
		{"it is put again", 0, func() error { put(w, textOf(all[1])); return nil }},
		{"one is cut", 1, func() error { return os.Truncate(file(2), 1) }},
		{"one is longer", 2, func() error { return appendTo(file(3), "!") }},
		{"both are put again", 0, func() error { put(w, textOf(all[2])); put(w, textOf(all[3])); return nil }},
		{"one is moved away", 1, func() error { return os.Rename(file(4), beside) }},
		{"it is moved back", 0, func() error { return os.Rename(beside, file(4)) }},
		{"a link takes the place of one", 1, func() error { return remade(file(5), func() error { return os.Symlink(file(6), file(5)) }) }},
		{"it is put again, in the place of the link", 0, func() error { put(w, textOf(all[5])); return nil }},
		{"a folder is moved away", 1, func() error { return os.Rename(filepath.Dir(file(7)), beside) }},
		{"it is moved back, without a blob", 1, func() error {
			return errors.Join(os.Rename(beside, filepath.Dir(file(7))), os.Remove(file(7)))
		}},
		{"it is put again", 0, func() error { put(w, textOf(all[7])); return nil }},
		{"a folder goes", 1, func() error { return os.RemoveAll(filepath.Dir(file(8))) }},
		{"all of it is put again", 0, func() error {
			if err := os.Mkdir(filepath.Dir(file(8)), 0o700); err != nil { // a store makes each once
				return err
			}
			for _, b := range all {
				if b.SHA256[:2] == all[8].SHA256[:2] {
					put(w, textOf(b))
				}
			}
			return nil
		}},
		{"the space is moved away", 600, func() error { return os.Rename(w.Dir(), beside) }},
		{"one is cut there", 600, func() error { return os.Truncate(filepath.Join(beside, all[9].SHA256[:2], all[9].SHA256[2:]), 1) }},
		{"it is moved back", 1, func() error { return os.Rename(beside, w.Dir()) }},
		{"it is put again", 0, func() error { put(w, textOf(all[9])); return nil }},
		{"another name leads to one", 0, func() error { return os.Link(file(10), beside) }},
		{"it is collected, and the rest wanted", 1, func() error {
			_, err := s.Collect(func(_ int64, sums map[string]bool) error {
				for _, b := range all[:599] {
					delete(sums, b.SHA256)
				}
				return nil
			})
			return err
		}},
		{"one is set aside", 2, func() error { return w.SetAside(all[11].SHA256) }},
		{"both are put again", 0, func() error { put(w, textOf(all[11])); put(w, textOf(all[599])); return nil }},
		{"more events than the system keeps", 1, func() error {
			noise := filepath.Join(filepath.Dir(file(12)), "noise")
			for range 9000 {
				if err := errors.Join(os.WriteFile(noise, nil, 0o600), os.Remove(noise)); err != nil {
					return err
				}
			}
			return os.Remove(file(12))
		}},
		{"other spaces are looked at", 1, func() error {
			for n := range int64(9) {
				other := s.Space(n + 2)
				if got := other.Missing([]blob.Blob{put(other, "in each")}); len(got) > 0 {
					return fmt.Errorf("in space %d, %v is missing", n+2, got)
				}
			}
			return nil
		}},
	} {
		if err := c.change(); err != nil {
			t.Fatal(c.name, err)
		}
		want := slices.DeleteFunc(slices.Clone(all), func(b blob.Blob) bool { return w.Has(b.SHA256, b.Size) })
		if len(want) < c.missed || c.missed == 0 && len(want) > 0 {
			t.Errorf("%s: %d are not there", c.name, len(want))
		}
		for range 2 {
			if got := w.Missing(all); !slices.Equal(got, want) {
				t.Errorf("%s: %d are found missing, and %d are", c.name, len(got), len(want))
			}
		}
	}
}

// textOf finds the text of one of the blobs of TestMissingAgain.
func textOf(b blob.Blob) string {
	for i := range 600 {
		if text := fmt.Sprint("text ", i); hash(text) == b.SHA256 {
			return text
		}
	}
	return ""
}

func appendTo(name, text string) error {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	return errors.Join(err, f.Close())
}

// TestMissingBesideChanges looks while another goroutine cuts blobs and puts them again: after it has ended, a look finds the actual state.
func TestMissingBesideChanges(t *testing.T) {
	s := open(t, t.TempDir())
	t.Cleanup(func() { _ = s.Close() })
	w := s.Space(1)
	var all []blob.Blob
	for i := range 300 {
		text := fmt.Sprint("text ", i)
		all = append(all, blob.Blob{SHA256: hash(text), Size: int64(len(text))})
	}
	slices.SortFunc(all, func(a, b blob.Blob) int { return strings.Compare(a.SHA256, b.SHA256) })
	for range 20 {
		var work sync.WaitGroup
		work.Go(func() {
			for i, b := range all {
				text := textOf(b)
				if _, err := w.Put(b.SHA256, b.Size, strings.NewReader(text)); err != nil {
					t.Error(err)
				}
				if i%3 == 0 {
					if err := os.Truncate(w.Path(b.SHA256), 1); err != nil {
						t.Error(err)
					}
				}
			}
		})
		for range 3 {
			work.Go(func() { w.Missing(all) })
		}
		work.Wait()
		want := slices.DeleteFunc(slices.Clone(all), func(b blob.Blob) bool { return w.Has(b.SHA256, b.Size) })
		if got := w.Missing(all); !slices.Equal(got, want) || len(want) != 100 {
			t.Errorf("%d are found missing, and %d are", len(got), len(want))
		}
	}
}

func BenchmarkMissing(b *testing.B) {
	w := open(b, b.TempDir()).Space(1)
	var all []blob.Blob
	for i := range 10_000 {
		text := fmt.Sprint("text ", i)
		all = append(all, blob.Blob{SHA256: hash(text), Size: int64(len(text))})
		file := w.Path(hash(text))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o700), os.WriteFile(file, []byte(text), 0o600)); err != nil {
			b.Fatal(err)
		}
	}
	slices.SortFunc(all, func(a, b blob.Blob) int { return strings.Compare(a.SHA256, b.SHA256) })
	for b.Loop() {
		if got := w.Missing(all); len(got) > 0 {
			b.Fatal(len(got))
		}
	}
}
