package r2

import (
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func openStorage(t testing.TB, dir string) *Bucket {
	t.Helper()
	return openStorageAt(t, dir, nil)
}

// openStorageAt opens the bucket in dir on a real SQLite file until the test ends.
func openStorageAt(t testing.TB, dir string, now func() time.Time) *Bucket {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "storage.db")+
		"?_pragma=busy_timeout(5000)&_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1) // nothing asks for a second while it holds one
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(db.Close(), root.Close()); err != nil {
			t.Error(err)
		}
	})
	s, err := New(t.Context(), db, root, now)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func put(t testing.TB, s *Bucket, key, body string, o PutOptions) *Object {
	t.Helper()
	object, err := s.Put(t.Context(), key, strings.NewReader(body), o)
	if err != nil {
		t.Fatalf("put %q: %v", key, err)
	}
	return object
}

// read returns the body at key; "" and false without an object.
func read(t testing.TB, s *Bucket, key string, o GetOptions) (string, bool) {
	t.Helper()
	object, body, err := s.Get(t.Context(), key, o)
	if err != nil {
		t.Fatalf("get %q: %v", key, err)
	}
	if object == nil {
		return "", false
	}
	defer func() {
		if err := body.Close(); err != nil {
			t.Error(err)
		}
	}()
	all, err := io.ReadAll(body)
	if err != nil {
		t.Fatalf("read %q: %v", key, err)
	}
	return string(all), true
}

func blobNames(t testing.TB, s *Bucket, folder string) []string {
	t.Helper()
	entries, err := s.blobs.names(folder)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestStorageKeepsObjects(t *testing.T) {
	dir := t.TempDir()
	s := openStorage(t, dir)
	o := put(t, s, "a/b", "hello", PutOptions{
		HTTP: &HTTPMetadata{ContentType: "text/plain"}, Custom: json.RawMessage(`{"z":"1","a":"é"}`),
		Hash: "sha1", Digest: "AAF4C61DDCC5E8A2DABEDE0F3B482CD9AEA9434D",
	})
	if o.ETag != "5d41402abc4b2a76b9719d911017c592" || o.Size != 5 || len(o.Version) != 32 || o.Class != "Standard" {
		t.Errorf("put = %+v", o)
	}
	again := openStorage(t, dir)
	head, err := again.Head(t.Context(), "a/b")
	if err != nil {
		t.Fatal(err)
	}
	if head.HTTP.ContentType != "text/plain" || string(head.Custom) != `{"z":"1","a":"é"}` || head.Checksums["sha1"] == "" ||
		head.Checksums["md5"] != head.ETag {
		t.Errorf("head = %+v", head)
	}
	if got, _ := read(t, again, "a/b", GetOptions{}); got != "hello" {
		t.Errorf("body = %q", got)
	}
	if err := again.Delete(t.Context(), "a/b", "never"); err != nil {
		t.Fatal(err)
	}
	if _, ok := read(t, again, "a/b", GetOptions{}); ok {
		t.Error("deleted object is still there")
	}
	if left := blobNames(t, again, blobFolder); len(left) != 0 {
		t.Errorf("blobs left: %v", left)
	}
}

func TestStorageKeysAreOpaque(t *testing.T) {
	s := openStorage(t, t.TempDir())
	keys := []string{"../../etc/passwd", "/abs", "a\x00b", "a", "ü/🐟", "blobs", ".", "..", "C:\\x", strings.Repeat("k", 1024)}
	for _, key := range keys {
		put(t, s, key, "body of "+key, PutOptions{})
	}
	for _, key := range keys {
		if got, _ := read(t, s, key, GetOptions{}); got != "body of "+key {
			t.Errorf("%q = %q", key, got)
		}
	}
	for _, key := range []string{"", strings.Repeat("k", 1025), "\xff"} {
		_, err := s.Put(t.Context(), key, strings.NewReader("x"), PutOptions{})
		wantStorage(t, err, "put: The specified object name is not valid. (10020)")
	}
}

func wantStorage(t testing.TB, err error, text string) {
	t.Helper()
	if _, ok := errors.AsType[*Error](err); !ok || err.Error() != text {
		t.Errorf("error = %v, want %s", err, text)
	}
}

func TestStorageRefusals(t *testing.T) {
	s := openStorage(t, t.TempDir())
	put(t, s, "k", "abc", PutOptions{})
	limit := int64(1001)
	offset := int64(3)
	cases := []struct {
		name string
		do   func() error
		want string
	}{
		{
			"digest", func() error {
				_, err := s.Put(t.Context(), "k", strings.NewReader("x"), PutOptions{Hash: "md5", Digest: strings.Repeat("0", 32)})
				return err
			},
			"put: The MD5 checksum you specified did not match what we received.\nYou provided a MD5 checksum with " +
				"value: 00000000000000000000000000000000\nActual MD5 was: 9dd4e461268c8034f5c8564e155c67a6 (10037)",
		},
		{"metadata", func() error {
			_, err := s.Put(t.Context(), "k", strings.NewReader("x"), PutOptions{
				Custom: json.RawMessage(`{"k":"` + strings.Repeat("é", 8192) + `"}`),
			})
			return err
		}, "put: Your metadata headers exceed the maximum allowed metadata size. (10012)"},
		{"metadata shape", func() error {
			_, err := s.Put(t.Context(), "k", strings.NewReader("x"), PutOptions{Custom: json.RawMessage(`{"k":1}`)})
			return err
		}, "put: customMetadata is not an object of strings. (10029)"},
		{"class", func() error {
			_, err := s.Put(t.Context(), "k", strings.NewReader("x"), PutOptions{Class: "Cold"})
			return err
		}, `put: "Cold" is not a storage class; use Standard or InfrequentAccess. (10029)`},
		{
			"limit", func() error { _, err := s.List(t.Context(), ListOptions{Limit: &limit}); return err },
			"list: MaxKeys params must be positive integer <= 1000. (10022)",
		},
		{
			"cursor", func() error { _, err := s.List(t.Context(), ListOptions{Cursor: "?"}); return err },
			"list: The cursor is not one that a list returned. (10029)",
		},
		{"range", func() error {
			_, _, err := s.Get(t.Context(), "k", GetOptions{Range: &Range{Offset: &offset}})
			return err
		}, "get: The requested range is not satisfiable (10039)"},
		{"condition", func() error {
			_, _, err := s.Get(t.Context(), "k", GetOptions{OnlyIf: &Conditions{IfMatch: new(`"open`)}})
			return err
		}, "Unclosed double quote for Etag"},
		{"size", func() error {
			u, err := s.Begin("k", PutOptions{})
			if err != nil {
				return err
			}
			defer u.Abort()
			u.size = maxObjectBytes
			_, err = io.WriteString(u, "x")
			if _, commitErr := u.Commit(t.Context()); commitErr == nil {
				t.Error("an object over the limit was stored")
			}
			return err
		}, "put: Your proposed upload exceeds the maximum allowed object size. (100100)"},
		{
			"delete", func() error { return s.Delete(t.Context(), make([]string, 1001)...) },
			"delete: at most 1000 keys can be deleted at once, not 1001. (10029)",
		},
		{
			"part number", func() error { _, err := s.beginPart("k", "id", 10001); return err },
			"uploadPart: Part number must be between 1 and 10000 (inclusive). (10029)",
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { wantStorage(t, c.do(), c.want) })
	}
	if got, _ := read(t, s, "k", GetOptions{}); got != "abc" {
		t.Errorf("a refused put changed the object to %q", got)
	}
	if left := blobNames(t, s, incomingFolder); len(left) != 0 {
		t.Errorf("incoming left: %v", left)
	}
}

func TestStorageConditions(t *testing.T) {
	now := time.UnixMilli(1_700_000_000_500).UTC()
	s := openStorage(t, t.TempDir())
	s.now = func() time.Time { return now }
	o := put(t, s, "k", "abc", PutOptions{})
	at := func(ms int64) *int64 { return &ms }
	cases := []struct {
		name string
		c    *Conditions
		want bool
	}{
		{"none", nil, true},
		{"match", &Conditions{Match: new(o.ETag)}, true},
		{"other", &Conditions{Match: new("x")}, false},
		{"empty is not a tag", &Conditions{Match: new("")}, false},
		{"any", &Conditions{Match: new("*")}, true},
		{"none match", &Conditions{NoneMatch: new(o.ETag)}, false},
		{"none match other", &Conditions{NoneMatch: new("x")}, true},
		{"header list", &Conditions{IfMatch: new(`"x", , "` + o.ETag + `"`)}, true},
		{"weak does not match strongly", &Conditions{IfMatch: new(`W/"` + o.ETag + `"`)}, false},
		{"weak matches weakly", &Conditions{IfNoneMatch: new(`W/"` + o.ETag + `"`)}, false},
		{"after earlier", &Conditions{After: at(now.UnixMilli() - 1)}, true},
		{"after same", &Conditions{After: at(now.UnixMilli())}, false},
		{"after same second", &Conditions{After: at(now.UnixMilli() - 400), Seconds: true}, false},
		{"before later", &Conditions{Before: at(now.UnixMilli() + 1)}, true},
		{"before same", &Conditions{Before: at(now.UnixMilli())}, false},
		{"tag decides over time", &Conditions{Match: new(o.ETag), Before: at(0)}, true},
		{"differing tag decides over time", &Conditions{NoneMatch: new("x"), After: at(now.UnixMilli() + 9)}, true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			object, body, err := s.Get(t.Context(), "k", GetOptions{OnlyIf: c.c})
			if err != nil || object == nil || (body != nil) != c.want {
				t.Errorf("object %v, body %v, error %v; want held %v", object, body, err, c.want)
			}
			if body != nil {
				_ = body.Close()
			}
			stored, err := s.Put(t.Context(), "k", strings.NewReader("abc"), PutOptions{OnlyIf: c.c})
			if err != nil || (stored != nil) != c.want {
				t.Errorf("put = %v, %v; want held %v", stored, err, c.want)
			}
		})
	}
	if o, err := s.Put(t.Context(), "new", strings.NewReader("x"), PutOptions{OnlyIf: &Conditions{Match: new("*")}}); o != nil ||
		err != nil {
		t.Errorf("put of a new key if it matches = %v, %v", o, err)
	}
	if o, err := s.Put(t.Context(), "new", strings.NewReader("x"), PutOptions{OnlyIf: &Conditions{NoneMatch: new("*")}}); o == nil ||
		err != nil {
		t.Errorf("put of a new key if there is none = %v, %v", o, err)
	}
}

func TestStorageRanges(t *testing.T) {
	s := openStorage(t, t.TempDir())
	put(t, s, "k", "0123456789", PutOptions{})
	n := func(v int64) *int64 { return &v }
	cases := []struct {
		name string
		r    Range
		want string // "!" means refused
	}{
		{"all", Range{}, "0123456789"},
		{"from 3", Range{Offset: n(3)}, "3456789"},
		{"2 from 3", Range{Offset: n(3), Length: n(2)}, "34"},
		{"the first 2", Range{Length: n(2)}, "01"},
		{"more than there are", Range{Offset: n(8), Length: n(200)}, "89"},
		{"the last 3", Range{Suffix: n(3)}, "789"},
		{"more than all at the end", Range{Suffix: n(30)}, "0123456789"},
		{"none at the end", Range{Suffix: n(0)}, "!"},
		{"from the end", Range{Offset: n(10)}, "!"},
		{"no bytes", Range{Length: n(0)}, "!"},
		{"from before the begin", Range{Offset: n(-1)}, "!"},
		{"a header", Range{Header: "bytes=2-4"}, "234"},
		{"a header without an end", Range{Header: "bytes=7-"}, "789"},
		{"a header of a suffix, spaced", Range{Header: "Bytes = -2"}, "89"},
		{"a header from the end", Range{Header: "bytes=10-"}, "0123456789"},
		{"a header of two ranges", Range{Header: "bytes=0-1,3-4"}, "0123456789"},
		{"a header that ends before its begin", Range{Header: "bytes=4-2"}, "0123456789"},
		{"a header of a large number", Range{Header: "bytes=99999999999999999999-"}, "0123456789"},
		{"a header of lines", Range{Header: "lines=1-2"}, "0123456789"},
		{"a header that is none", Range{Header: "x"}, "0123456789"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			object, body, err := s.Get(t.Context(), "k", GetOptions{Range: &c.r})
			if c.want == "!" {
				wantStorage(t, err, "get: The requested range is not satisfiable (10039)")
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(body)
			if string(got) != c.want || err != nil || object.Range.Length != int64(len(got)) {
				t.Errorf("%q, %v, range %v; want %q", got, err, object.Range, c.want)
			}
			_ = body.Close()
		})
	}
}

func TestStorageLists(t *testing.T) {
	s := openStorage(t, t.TempDir())
	for _, key := range []string{"b", "a/2", "a/1/x", "a/1/y", "a", "Z", "ü", "a/3"} {
		put(t, s, key, key, PutOptions{HTTP: &HTTPMetadata{ContentType: "text/plain"}})
	}
	list := func(o ListOptions) string {
		t.Helper()
		var pages []string
		for {
			page, err := s.List(t.Context(), o)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, object := range page.Objects {
				names = append(names, object.Key)
			}
			for _, prefix := range page.Prefixes {
				names = append(names, prefix+"*")
			}
			pages = append(pages, strings.Join(names, " "))
			if !page.Truncated {
				return strings.Join(pages, " | ")
			}
			o.Cursor = page.Cursor
		}
	}
	two, one := int64(2), int64(1)
	cases := []struct {
		name string
		o    ListOptions
		want string
	}{
		{"all", ListOptions{}, "Z a a/1/x a/1/y a/2 a/3 b ü"},
		{"a prefix", ListOptions{Prefix: "a/"}, "a/1/x a/1/y a/2 a/3"},
		{"a delimiter", ListOptions{Delimiter: "/"}, "Z a b ü a/*"},
		{"a prefix and a delimiter", ListOptions{Prefix: "a/", Delimiter: "/"}, "a/2 a/3 a/1/*"},
		{"pages of two", ListOptions{Limit: &two}, "Z a | a/1/x a/1/y | a/2 a/3 | b ü"},
		{"pages of one and a delimiter", ListOptions{Limit: &one, Delimiter: "/"}, "Z | a | a/* | b | ü"},
		{"pages of two and a delimiter", ListOptions{Limit: &two, Delimiter: "/"}, "Z a | b a/* | ü"},
		{"after a key", ListOptions{StartAfter: "a/2"}, "a/3 b ü"},
		{"after a key, with a prefix", ListOptions{StartAfter: "a/2", Prefix: "a/"}, "a/3"},
		{"a prefix of no key", ListOptions{Prefix: "none"}, ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			if got := list(c.o); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
	page, err := s.List(t.Context(), ListOptions{Prefix: "Z", Include: []string{"httpMetadata"}})
	if err != nil || page.Objects[0].HTTP == nil || page.Objects[0].Custom != nil {
		t.Errorf("include: %+v, %v", page, err)
	}
}

func TestStorageSharedBytesOutliveOneObject(t *testing.T) {
	s := openStorage(t, t.TempDir())
	put(t, s, "a", "same", PutOptions{})
	put(t, s, "b", "same", PutOptions{})
	if n := len(blobNames(t, s, blobFolder)); n != 1 {
		t.Errorf("%d blobs for the same bytes", n)
	}
	if err := s.Delete(t.Context(), "a"); err != nil {
		t.Fatal(err)
	}
	if got, _ := read(t, s, "b", GetOptions{}); got != "same" {
		t.Errorf("b = %q", got)
	}
}

func TestStorageReaderOutlivesObject(t *testing.T) {
	s := openStorage(t, t.TempDir())
	put(t, s, "k", "first", PutOptions{})
	_, body, err := s.Get(t.Context(), "k", GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	put(t, s, "k", "second", PutOptions{})
	if got, err := io.ReadAll(body); string(got) != "first" || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if err := body.Close(); err != nil {
		t.Error(err)
	}
	if n := len(blobNames(t, s, blobFolder)); n != 1 {
		t.Errorf("%d blobs once the reader was closed, want 1", n)
	}
}

func FuzzStorageHeaders(f *testing.F) {
	for _, seed := range []string{`"a", W/"b"`, "*", "bytes=0-1", "bytes=-5", `W/`, ",,,", `"`, "bytes=1-2,3-4"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, header string) {
		if found, err := parseTags(header); err == nil &&
			slices.ContainsFunc(found, func(one tag) bool { return strings.Contains(one.value, `"`) }) {
			t.Errorf("%q: %v", header, found)
		}
		r, ok := parseRange(header)
		if !ok {
			return
		}
		span, err := r.resolve(100)
		if err == nil && (span.Offset < 0 || span.Length <= 0 || span.Offset+span.Length > 100) {
			t.Errorf("%q: %+v", header, span)
		}
	})
}

func md5Sum(text string) []byte {
	h := hashes["md5"].make()
	_, _ = io.WriteString(h, text)
	return h.Sum(nil)
}

func BenchmarkStoragePut(b *testing.B) {
	s := openStorage(b, b.TempDir())
	for i := range b.N {
		put(b, s, fmt.Sprint(i%100), fmt.Sprint("body ", i), PutOptions{})
	}
}

func BenchmarkStorageGet(b *testing.B) {
	s := openStorage(b, b.TempDir())
	put(b, s, "k", strings.Repeat("x", 10_000), PutOptions{})
	for b.Loop() {
		read(b, s, "k", GetOptions{})
	}
}

// TestCheckStorage: files without a row and rows without their file are found, and opening the bucket mends the first.
func TestCheckStorage(t *testing.T) {
	dir := t.TempDir()
	s := openStorage(t, dir)
	check := func() string {
		r, err := Check(t.Context(), s.db, os.DirFS(dir))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("%d files of %d bytes, %d orphans of %d, damaged %q", r.Blobs, r.Bytes, r.Orphans, r.OrphanBytes, r.Damaged)
	}
	want := func(text string) {
		t.Helper()
		if got := check(); got != text {
			t.Errorf("got %s\nwant %s", got, text)
		}
	}
	want("0 files of 0 bytes, 0 orphans of 0, damaged []")
	put(t, s, "a", "one", PutOptions{})
	put(t, s, "b", "three", PutOptions{})
	want("2 files of 8 bytes, 0 orphans of 0, damaged []")
	names := blobNames(t, s, blobFolder)
	for _, own := range []string{"thesis.docx", "../" + incomingFolder + "/draft.txt"} { // somebody's, which nothing removes
		path := filepath.Join(dir, blobFolder, own)
		if err := errors.Join(os.WriteFile(path, []byte("mine"), 0o600), os.Chtimes(path, time.Unix(1, 0), time.Unix(1, 0))); err != nil {
			t.Fatal(err)
		}
		defer func() {
			if text, err := os.ReadFile(path); err != nil || string(text) != "mine" {
				t.Errorf("%s: %q, %v", own, text, err)
			}
		}()
	}
	if err := os.WriteFile(filepath.Join(dir, blobFolder, strings.Repeat("5", 64)), []byte("stray"), 0o600); err != nil {
		t.Fatal(err)
	}
	want("3 files of 13 bytes, 1 orphans of 5, damaged []")
	openStorage(t, dir)
	want("2 files of 8 bytes, 0 orphans of 0, damaged []")
	for _, name := range names {
		if err := os.Truncate(filepath.Join(dir, blobFolder, name), 1); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Remove(filepath.Join(dir, blobFolder, names[0])); err != nil {
		t.Fatal(err)
	}
	want(`1 files of 1 bytes, 0 orphans of 0, damaged ["a" "b"]`)
}
