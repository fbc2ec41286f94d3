package service

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// someFiles are random files of a bundle, packed and as a map.
func someFiles(t testing.TB, chance *rand.Rand, most int) (packed []byte, files map[string]sitefile.File) {
	t.Helper()
	files = map[string]sitefile.File{}
	for range chance.IntN(most + 1) {
		f := sitefile.File{
			Path: fmt.Sprintf("%c/%d", 'a'+rune(chance.IntN(3)), chance.IntN(most)), SHA256: fmt.Sprint(chance.IntN(2)),
			Size: chance.Int64N(9), ContentType: "text/html",
		}
		files[f.Path] = f
	}
	sorted := make([]sitefile.File, 0, len(files))
	for _, f := range files {
		sorted = append(sorted, f)
	}
	slices.SortFunc(sorted, func(a, b sitefile.File) int { return cmp.Compare(a.Path, b.Path) })
	packed, err := packFiles(sorted)
	if err != nil {
		t.Fatal(err)
	}
	return packed, files
}

// TestCompareCounts compares random lists, and holds the counts to those of maps.
func TestCompareCounts(t *testing.T) {
	for seed := range uint64(300) {
		chance := rand.New(rand.NewPCG(seed, 0))
		was, before := someFiles(t, chance, 12)
		now, after := someFiles(t, chance, 12)
		c, err := compare(storedBundle{&manifest.Manifest{}, was}, storedBundle{&manifest.Manifest{}, now}, true)
		if err != nil {
			t.Fatal(err)
		}
		want := comparison{}
		for path, f := range after {
			kind := &want.added
			if old, ok := before[path]; ok {
				kind = &want.same
				if old.SHA256 != f.SHA256 {
					kind = &want.changed
				}
			}
			kind.n, kind.bytes = kind.n+1, kind.bytes+f.Size
		}
		for path, f := range before {
			if _, ok := after[path]; !ok {
				want.removed.n, want.removed.bytes = want.removed.n+1, want.removed.bytes+f.Size
			}
		}
		if c.added != want.added || c.changed != want.changed || c.removed != want.removed || c.same != want.same {
			t.Errorf("seed %d: %+v, want %+v", seed, c, want)
		}
	}
}

// TestCompareDamaged: a list that is cut off is an error, and never a comparison.
func TestCompareDamaged(t *testing.T) {
	whole, _ := someFiles(t, rand.New(rand.NewPCG(1, 1)), 40)
	for n := 1; n < len(whole); n++ {
		for _, pair := range [][2][]byte{{whole[:n], whole}, {whole, whole[:n]}} {
			if _, err := compare(
				storedBundle{&manifest.Manifest{}, pair[0]}, storedBundle{&manifest.Manifest{}, pair[1]}, true,
			); err == nil {
				t.Fatalf("%d of %d bytes are taken", n, len(whole))
			}
		}
	}
}

// TestCompareWorker describes the change of the Worker.
func TestCompareWorker(t *testing.T) {
	worker := &manifest.Manifest{Entry: "_worker/w.js", Assets: "public"}
	moved := &manifest.Manifest{Entry: "_worker2/w.js", Assets: "public"}
	none := &manifest.Manifest{}
	for _, tt := range []struct {
		name     string
		was, now *manifest.Manifest
		had, has []string // "path=hash"
		want     string
	}{
		{"no Worker", none, none, []string{"a=1"}, []string{"a=2"}, ""},
		{"a first Worker", none, worker, nil, []string{"_worker/w.js=1"}, "new"},
		{"no Worker any more", worker, none, []string{"_worker/w.js=1"}, []string{"a=1"}, "removed"},
		{
			"other files", worker, worker,
			[]string{"_worker/w.js=1"},
			[]string{"_worker/w.js=1", "_worker/w.js.map=2", "public/x.wasm=3"},
			"unchanged",
		},
		{"another entry", worker, worker, []string{"_worker/w.js=1"}, []string{"_worker/w.js=2"}, "changed"},
		{
			"another module", worker, worker,
			[]string{"_worker/w.js=1", "_worker/x.wasm=1"},
			[]string{"_worker/w.js=1", "_worker/x.wasm=2"},
			"changed",
		},
		{"a module less", worker, worker, []string{"_worker/w.js=1", "_worker/x.wasm=1"}, []string{"_worker/w.js=1"}, "changed"},
		{"another folder", worker, moved, []string{"_worker/w.js=1"}, []string{"_worker2/w.js=1"}, "unchanged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var packed [2][]byte
			for i, list := range [][]string{tt.had, tt.has} {
				var files []sitefile.File
				for _, f := range list {
					files = append(files, sitefile.File{Path: f[:len(f)-2], SHA256: f[len(f)-1:]})
				}
				var err error
				if packed[i], err = packFiles(files); err != nil {
					t.Fatal(err)
				}
			}
			c, err := compare(storedBundle{tt.was, packed[0]}, storedBundle{tt.now, packed[1]}, true)
			if err != nil || c.worker != tt.want {
				t.Errorf("%v to %v: %v, %v, want %q", tt.had, tt.has, c, err, tt.want)
			}
		})
	}
}

// BenchmarkCompare compares two bundles of as many files as there may be, all others.
func BenchmarkCompare(b *testing.B) {
	m := &manifest.Manifest{Routes: []manifest.Route{{Pattern: "/a/*", Access: manifest.Members}}}
	var packed [2][]byte
	for i := range packed {
		files := make([]sitefile.File, 20_000)
		for n := range files {
			files[n] = sitefile.File{
				Path: fmt.Sprintf("a/folder/page-%05d.html", n), SHA256: digestHex(i, n), Size: 1000,
				ContentType: "text/html; charset=utf-8",
			}
		}
		var err error
		if packed[i], err = packFiles(files); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		c, err := compare(storedBundle{m, packed[0]}, storedBundle{&manifest.Manifest{}, packed[1]}, true)
		if err != nil || c.changed.n != 20_000 || c.opened.All() != 1 {
			b.Fatalf("%+v %v", c, err)
		}
	}
}

// digestHex is a hash by chance.
func digestHex(i, n int) string {
	chance := rand.New(rand.NewPCG(uint64(i), uint64(n))) //nolint:gosec // both are small
	return fmt.Sprintf("%016x%016x%016x%016x", chance.Uint64(), chance.Uint64(), chance.Uint64(), chance.Uint64())
}
