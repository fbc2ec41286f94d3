package bundler

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/bundler/hashfile"
	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/secretscan"
)

// later is a time at which the files that a test made just now are old enough for their hashes to be kept.
func later() time.Time { return time.Now().Add(time.Minute) }

// poison changes the hashes that a file keeps, so that one that was taken from it shows. It returns how many there are.
func poison(t *testing.T, path string, secrets *secretscan.Set, dir string) int {
	t.Helper()
	key := secrets.Key()
	var entries []hashfile.Entry
	f := hashfile.Open(path, key[:])
	for _, name := range []string{"public/a.txt", "public/sub/b.txt", "public/id.pem"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			continue
		}
		stamp, _ := hashfile.StampOf(info)
		if _, ok := f.Lookup(name, stamp); ok {
			entries = append(entries, hashfile.Entry{Name: name, Stamp: stamp})
		}
	}
	if err := f.Save(entries); err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// TestKeptHashes: the next process reuses the hash of an unchanged file, and only that.
func TestKeptHashes(t *testing.T) {
	if folder, err := os.Open(t.TempDir()); err != nil {
		t.Fatal(err)
	} else if !hashfile.Reliable(folder) {
		testmachine.Lacks(t, "a file system with inodes and change times, in the folder of temporary files", folder.Close())
	} else if err := folder.Close(); err != nil {
		t.Fatal(err)
	}
	poisoned := strings.Repeat("0", 64)
	set := func(t *testing.T, path string, at time.Time) {
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	tests := []struct {
		name   string
		change func(t *testing.T, file string)
		o      Options
		kept   bool
	}{
		{"nothing", func(*testing.T, string) {}, Options{}, true},
		{"nothing, but everything is to be read", func(*testing.T, string) {}, Options{Rehash: true}, false},
		{"another version of the program", func(*testing.T, string) {}, Options{Program: "pages 2"}, false},
		{"other bytes of the same size", func(t *testing.T, file string) {
			put(t, filepath.Dir(file), "a.txt", "B")
		}, Options{}, false},
		{"other bytes, and the old times", func(t *testing.T, file string) {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Dir(file), "a.txt", "B")
			set(t, file, info.ModTime())
		}, Options{}, false},
		{"another file in its place, with the old times", func(t *testing.T, file string) {
			info, err := os.Stat(file)
			if err != nil {
				t.Fatal(err)
			}
			put(t, filepath.Dir(file), "new.txt", "B")
			set(t, filepath.Join(filepath.Dir(file), "new.txt"), info.ModTime())
			if err := os.Rename(filepath.Join(filepath.Dir(file), "new.txt"), file); err != nil {
				t.Fatal(err)
			}
		}, Options{}, false},
		{"a link in its place", func(t *testing.T, file string) {
			put(t, filepath.Dir(file), "new.txt", "B")
			if err := os.Remove(file); err != nil {
				t.Fatal(err)
			}
			if err := os.Symlink("new.txt", file); err != nil {
				t.Fatal(err)
			}
		}, Options{}, false},
		{"other secrets", func(*testing.T, string) {}, Options{Secrets: func() *secretscan.Set {
			return secretscan.New([]secretscan.Secret{{Name: "KEY", Value: "4f7a1c9d2e8b6a53"}}, secretscan.Options{})
		}}, false},
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			dir := site(t, "public/a.txt", "A", "public/sub/b.txt", "b")
			file := filepath.Join(dir, "public/a.txt")
			m := manifest.Manifest{Assets: "public"}
			o := c.o
			o.HashFile, o.Now = hashfile.Name(t.TempDir(), dir), later
			first := builder(t, dir, Options{HashFile: o.HashFile, Now: later})
			build(t, first, m)
			first.Close() // which waits for the hashes
			if n := poison(t, o.HashFile, nil, dir); n != 2 {
				t.Fatalf("%d hashes were kept", n)
			}
			c.change(t, file)
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			want := sum(text)
			if c.kept {
				want = poisoned
			}
			for _, a := range build(t, builder(t, dir, o), m).Assets {
				if a.Path == "/a.txt" && a.SHA256 != want {
					t.Errorf("the hash is %s, want %s", a.SHA256, want)
				}
			}
		})
	}
}

// TestHashesNotKept: no hash is kept of a file that may change again within the clock's grain, that holds a key or a secret, or
// that is on a file system whose times tell nothing.
func TestHashesNotKept(t *testing.T) {
	type test struct {
		name string
		now  func() time.Time
		on   bool // the times of the file system tell
		want int
	}
	tests := []test{
		{"just made", time.Now, true, 0},
		{"a file system that does not tell", later, false, 0},
		{"a clock that was set back", func() time.Time { return time.Now().Add(-time.Hour) }, true, 0},
	}
	if runtime.GOOS == "linux" || runtime.GOOS == "darwin" {
		tests = append(tests, test{"old enough", later, true, 2})
	}
	for _, c := range tests {
		t.Run(c.name, func(t *testing.T) {
			dir := site(t, "public/a.txt", "A", "public/sub/b.txt", "b", "public/id.pem",
				"-----BEGIN PRIVATE KEY-----\nMIIB\n-----END PRIVATE KEY-----\n")
			root, err := os.OpenRoot(dir)
			if err != nil {
				t.Fatal(err)
			}
			defer root.Close()
			path := hashfile.Name(t.TempDir(), dir)
			cache := hashCache{now: c.now}
			cache.begin(Options{HashFile: path}, nil)
			if info, err := os.Stat(dir); err != nil {
				t.Fatal(err)
			} else if stamp, ok := hashfile.StampOf(info); ok && !c.on {
				cache.devices = map[uint64]bool{stamp.Device: false}
			}
			m := &manifest.Manifest{Assets: "public"}
			if w := walkAssets(t.Context(), dir, root, m, nil, newReads(dir), cache.fill); len(w.files) < 2 {
				t.Fatal(w.files)
			}
			cache.saving.Wait()
			var key [32]byte
			if f := hashfile.Open(path, key[:]); f.Len() != c.want {
				t.Errorf("%d hashes are kept", f.Len())
			}
		})
	}
}
