package blob_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
