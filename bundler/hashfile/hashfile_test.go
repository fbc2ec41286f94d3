package hashfile_test

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/bundler/hashfile"
)

var (
	stamp = hashfile.Stamp{Size: 3, Modified: 1_700_000_000_000_000_001, Changed: 1_700_000_000_000_000_002, Inode: 7, Device: 8}
	other = hashfile.Entry{Name: "public/b.txt", Stamp: stamp, SHA256: [32]byte{4, 5, 6}}
	entry = hashfile.Entry{Name: "public/a.txt", Stamp: stamp, SHA256: [32]byte{1, 2, 3}}
)

func TestFile(t *testing.T) {
	dir := t.TempDir()
	path := hashfile.Name(filepath.Join(dir, "made", "here"), "/site")
	if f := hashfile.Open(path, []byte("key")); f.Len() != 0 {
		t.Errorf("a missing file has %d hashes", f.Len())
	}
	if err := hashfile.New(path, []byte("key")).Save([]hashfile.Entry{entry}); err != nil {
		t.Fatal(err)
	}
	f := hashfile.Open(path, []byte("key"))
	if sum, ok := f.Lookup("public/a.txt", stamp); !ok || sum != entry.SHA256 {
		t.Errorf("the hash is %x, %v", sum, ok)
	}
	for name, change := range map[string]func(*hashfile.Stamp){
		"size":     func(s *hashfile.Stamp) { s.Size++ },
		"modified": func(s *hashfile.Stamp) { s.Modified++ },
		"changed":  func(s *hashfile.Stamp) { s.Changed++ },
		"inode":    func(s *hashfile.Stamp) { s.Inode++ },
		"device":   func(s *hashfile.Stamp) { s.Device++ },
	} {
		other := stamp
		if change(&other); other == stamp {
			t.Fatal(name)
		}
		if _, ok := f.Lookup("public/a.txt", other); ok {
			t.Errorf("the hash holds with another %s", name)
		}
	}
	if _, ok := f.Lookup("public/b.txt", stamp); ok {
		t.Error("the hash holds for another file")
	}
	if f := hashfile.Open(path, []byte("other key")); f.Len() != 0 {
		t.Error("hashes hold under another key")
	}
	info, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
}

// A file that was cut or changed anywhere has no hashes.
func TestDamagedFile(t *testing.T) {
	path := hashfile.Name(t.TempDir(), "/site")
	if err := hashfile.New(path, nil).Save([]hashfile.Entry{entry, other}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	try := func(what string, at int, text []byte) {
		if err := os.WriteFile(path, text, 0o600); err != nil {
			t.Fatal(err)
		}
		if f := hashfile.Open(path, nil); f.Len() != 0 {
			t.Errorf("%s at %d: %d hashes", what, at, f.Len())
		}
	}
	for at := range text {
		try("cut", at, text[:at])
		changed := append([]byte{}, text...)
		changed[at] ^= 0x10
		try("changed", at, changed)
	}
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if f := hashfile.Open(path, nil); f.Len() != 2 {
		t.Errorf("the whole file has %d hashes", f.Len())
	}
}

// TestOrder finds each of many hashes in any order of the questions, and no name that is not there.
func TestOrder(t *testing.T) {
	path := hashfile.Name(t.TempDir(), "/site")
	var entries []hashfile.Entry
	for i := range 1000 {
		n := i * 7919 % 1000 // in no order
		entries = append(entries, hashfile.Entry{
			Name: fmt.Sprint("public/", n), Stamp: hashfile.Stamp{Size: int64(n)}, SHA256: [32]byte{byte(n), byte(n >> 8)},
		})
	}
	if err := hashfile.New(path, nil).Save(slices.Clone(entries)); err != nil {
		t.Fatal(err)
	}
	f := hashfile.Open(path, nil)
	if f.Len() != len(entries) {
		t.Fatalf("%d hashes", f.Len())
	}
	for range 3 {
		for _, e := range entries {
			if sum, ok := f.Lookup(e.Name, e.Stamp); !ok || sum != e.SHA256 {
				t.Fatalf("%s: %x, %v", e.Name, sum, ok)
			}
			for _, name := range []string{e.Name + "0000", e.Name[:len(e.Name)-1] + "x", "", "z"} {
				if _, ok := f.Lookup(name, e.Stamp); ok {
					t.Fatalf("%q is there", name)
				}
			}
		}
		slices.SortFunc(entries, func(a, b hashfile.Entry) int { return strings.Compare(a.Name, b.Name) })
	}
}

// Save removes hashes that nothing has used for two months, and nothing else.
func TestUnusedFiles(t *testing.T) {
	dir := t.TempDir()
	old := hashfile.Name(dir, "/gone")
	left := filepath.Join(dir, "writing-123")
	recent := hashfile.Name(dir, "/other")
	foreign := filepath.Join(dir, "notes.hashes")
	for _, path := range []string{old, left, recent, foreign} {
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, path := range []string{old, left, foreign} {
		past := time.Now().Add(-61 * 24 * time.Hour)
		if err := os.Chtimes(path, past, past); err != nil {
			t.Fatal(err)
		}
	}
	if err := hashfile.New(hashfile.Name(dir, "/site"), nil).Save(nil); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{old: false, left: false, recent: true, foreign: true} {
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("%s: %v", filepath.Base(path), err)
		}
	}
}

func TestSettled(t *testing.T) {
	at := time.Unix(1_700_000_010, 0)
	for _, c := range []struct {
		name              string
		modified, changed time.Duration // before
		want              bool
	}{
		{"old", time.Hour, time.Hour, true},
		{"modified just now", time.Second, time.Hour, false},
		{"times set just now", time.Hour, time.Second, false},
		{"at the grain", 2 * time.Second, 2 * time.Second, false},
		{"over the grain", 2*time.Second + 1, 2*time.Second + 1, true},
		{"in the future", -time.Hour, time.Hour, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := hashfile.Stamp{Modified: at.Add(-c.modified).UnixNano(), Changed: at.Add(-c.changed).UnixNano()}
			if got := s.Settled(at); got != c.want {
				t.Error(got)
			}
		})
	}
}

// A file system without inodes and change times of its own keeps no hashes; that of temporary files does.
func TestReliable(t *testing.T) {
	places := map[string]bool{t.TempDir(): true}
	if runtime.GOOS == "linux" {
		places["/proc"] = false
	}
	for place, want := range places {
		f, err := os.Open(place)
		if err != nil {
			t.Fatal(err)
		}
		got := hashfile.Reliable(f)
		_ = f.Close()
		if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
			want = false
		}
		if got != want {
			t.Errorf("%s: %v", place, got)
		}
	}
}
