package r2

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
)

func TestStorageConcurrency(t *testing.T) {
	s := openStorage(t, t.TempDir())
	var group sync.WaitGroup
	for worker := range 4 {
		group.Go(func() {
			for i := range 20 {
				key := fmt.Sprintf("k%d", i%3)
				want := fmt.Sprintf("body %d", (worker+i)%4) // the same bytes come and go under several keys
				if _, err := s.Put(t.Context(), key, strings.NewReader(want), PutOptions{}); err != nil {
					t.Error(err)
				}
				if got, ok := read(t, s, key, GetOptions{}); ok && !strings.HasPrefix(got, "body ") {
					t.Errorf("read %q", got)
				}
				if i%5 == 4 {
					if err := s.Delete(t.Context(), key); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	group.Wait()
	objects, err := s.List(t.Context(), ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range objects.Objects {
		if got, ok := read(t, s, o.Key, GetOptions{}); !ok || int64(len(got)) != o.Size {
			t.Errorf("%s = %q", o.Key, got)
		}
	}
}

// TestStorageReplacedWhileRead: a get meets the old bytes or the new ones.
func TestStorageReplacedWhileRead(t *testing.T) {
	s := openStorage(t, t.TempDir())
	put(t, s, "k", "body 0", PutOptions{})
	done := make(chan struct{})
	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				if got, ok := read(t, s, "k", GetOptions{}); !ok || !strings.HasPrefix(got, "body ") {
					t.Errorf("read %q, %v", got, ok)
					return
				}
			}
		})
	}
	for n := range 50 {
		put(t, s, "another", fmt.Sprint(n), PutOptions{}) // so that rows do not get their predecessors' ids
		put(t, s, "k", fmt.Sprintf("body %d", n), PutOptions{})
	}
	close(done)
	readers.Wait()
}

// TestStorageKilled kills a process during puts, again and again: its acknowledged objects are complete, and no object is partial.
func TestStorageKilled(t *testing.T) {
	if target := os.Getenv("STORAGE_VICTIM"); target != "" {
		writeUntilKilled(t, target)
		return
	}
	dir := t.TempDir()
	acknowledged := map[string]string{}
	for round := range 6 {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestStorageKilled$")
		cmd.Env = append(os.Environ(), "STORAGE_VICTIM="+dir, fmt.Sprintf("STORAGE_ROUND=%d", round))
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		dec := json.NewDecoder(out)
		for range 5 + round*3 {
			var line [2]string
			if err := dec.Decode(&line); err != nil {
				t.Fatal(err)
			}
			acknowledged[line[0]] = line[1]
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for {
			var line [2]string
			if dec.Decode(&line) != nil {
				break
			}
			acknowledged[line[0]] = line[1]
		}
		_ = cmd.Wait()
	}
	s := openStorage(t, dir)
	for key, etag := range acknowledged {
		object, body, err := s.Get(t.Context(), key, GetOptions{})
		if err != nil || object == nil || object.ETag != etag {
			t.Fatalf("%s: %v, %v", key, object, err)
		}
		_ = body.Close()
	}
	page, err := s.List(t.Context(), ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range page.Objects {
		if got, _ := read(t, s, o.Key, GetOptions{}); fmt.Sprintf("%x", md5Sum(got)) != o.ETag {
			t.Errorf("%s is not whole", o.Key)
		}
	}
	if blobs := blobNames(t, s, blobFolder); len(blobs) != len(page.Objects) {
		t.Errorf("%d blobs for %d objects", len(blobs), len(page.Objects))
	}
}

func writeUntilKilled(t *testing.T, dir string) {
	s := openStorage(t, dir)
	out := json.NewEncoder(os.Stdout)
	for i := 0; ; i++ {
		key := fmt.Sprintf("%s-%d", os.Getenv("STORAGE_ROUND"), i)
		body := make([]byte, 200_000)
		_, _ = rand.Read(body)
		o, err := s.Put(t.Context(), key, bytes.NewReader(body), PutOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if err := out.Encode([2]string{key, o.ETag}); err != nil {
			return
		}
	}
}
