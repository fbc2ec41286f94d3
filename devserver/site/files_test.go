package site

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// folderFiles keeps files in a folder.
type folderFiles struct {
	dir    string
	refuse error // of Begin and Commit
}

type folderFile struct {
	bytes.Buffer

	in  *folderFiles
	key string
}

func (f *folderFiles) Begin(_ context.Context, key string) (FileWriter, error) {
	return &folderFile{in: f, key: key}, nil
}

func (f *folderFiles) Open(_ context.Context, key string) (io.ReadCloser, error) {
	return os.Open(filepath.Join(f.dir, key))
}

func (f *folderFiles) Delete(_ context.Context, keys []string) error {
	for _, key := range keys {
		if err := os.Remove(filepath.Join(f.dir, key)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (w *folderFile) Commit(context.Context) error {
	if w.in.refuse != nil {
		return w.in.refuse
	}
	return os.WriteFile(filepath.Join(w.in.dir, w.key), w.Bytes(), 0o600)
}

func (w *folderFile) Abort() {}

func (f *folderFiles) count(t *testing.T) int {
	t.Helper()
	entries, err := os.ReadDir(f.dir)
	if err != nil {
		t.Fatal(err)
	}
	return len(entries)
}

// apply posts an application with files: name, file name, contents.
func (b *inbox) apply(t *testing.T, token string, parts ...[3]string) reply {
	t.Helper()
	body, kind := multipartBody(t, append([][3]string{{"form", "", "jobs"}, {"_token", "", token}}, parts...))
	return b.do(t, nil, "POST", "/__pages/forms", body, "Content-Type: "+kind, "Accept: application/json")
}

func TestFormFiles(t *testing.T) {
	files := &folderFiles{dir: t.TempDir()}
	b := openInbox(t, Options{Files: files}, enquiries)
	script := "<script>alert(document.cookie)</script>"
	got := b.apply(
		t, "", [3]string{"cv", "../../Jürgen Q.html", script}, [3]string{"photo", "a.png", "\x89PNG"},
		[3]string{"photo", "a.png", "second"}, [3]string{"none", "empty.txt", ""},
	)
	if got.status != 201 {
		t.Fatalf("%d %s", got.status, got.body)
	}
	lead := decode[leadDocument](t, got).Lead
	kept, err := b.site.Store().LeadFiles(t.Context(), lead.ID)
	if err != nil || len(kept) != 4 || kept[0].Field != "cv" || kept[3].Size != 0 || kept[0].Filename != "Jürgen Q.html" {
		t.Fatalf("%+v %v", kept, err)
	}
	for i, want := range []string{script, "\x89PNG", "second", ""} {
		path := "/__pages/api/leads/" + lead.ID + "/files/" + kept[i].SHA256
		got := b.get(t, path)
		h := got.header
		if got.status != 200 || got.body != want || h.Get("Content-Type") != "application/octet-stream" ||
			!strings.HasPrefix(h.Get("Content-Disposition"), "attachment") ||
			h.Get("Content-Security-Policy") != "sandbox; default-src 'none'" || h.Get("X-Content-Type-Options") != "nosniff" {
			t.Errorf("%s: %d %q %v", path, got.status, got.body, h)
		}
		if got := b.do(t, nil, "HEAD", path, ""); got.status != 200 || got.body != "" || got.header.Get("Content-Length") == "" {
			t.Errorf("HEAD %s: %+v", path, got)
		}
	}
	other := decode[leadDocument](t, b.apply(t, "", [3]string{"cv", "x", "x"})).Lead
	for _, path := range []string{
		other.ID + "/files/" + kept[0].SHA256, lead.ID, lead.ID + "/files/", lead.ID + "/" + kept[0].SHA256,
		"lead_x/files/" + kept[0].SHA256,
	} {
		if got := b.get(t, "/__pages/api/leads/"+path); got.status != 404 {
			t.Errorf("%s: %d", path, got.status)
		}
	}
	if err := files.Delete(t.Context(), []string{kept[0].key}); err != nil {
		t.Fatal(err)
	}
	if got := b.get(t, "/__pages/api/leads/"+lead.ID+"/files/"+kept[0].SHA256); got.status != 503 ||
		!strings.Contains(got.body, "storage_failed") {
		t.Errorf("a file that is gone: %d %s", got.status, got.body)
	}
}

// TestFormFilesOfNoLead sends posts with files that make no lead: no file of them stays.
func TestFormFilesOfNoLead(t *testing.T) {
	files := &folderFiles{dir: t.TempDir()}
	b := openInbox(t, Options{Files: files}, enquiries)
	cv := [3]string{"cv", "cv.txt", "one"}
	first := decode[leadDocument](t, b.apply(t, "twice", cv)).Lead
	for range 2 {
		if again := decode[leadDocument](t, b.apply(t, "twice", cv)).Lead; again.ID != first.ID {
			t.Errorf("a double click is two leads: %s and %s", first.ID, again.ID)
		}
	}
	if got := b.apply(t, "twice", [3]string{"cv", "cv.txt", "two"}); got.status != 409 {
		t.Errorf("another file with the key of an earlier post: %d", got.status)
	}
	if got := b.apply(t, "", cv, [3]string{"more", "large.bin", strings.Repeat("x", maxFileBytes+1)}); got.status != 413 {
		t.Errorf("too large: %d", got.status)
	}
	if got := b.apply(t, "", cv, cv, cv, cv, cv, cv); got.status != 422 {
		t.Errorf("too many: %d", got.status)
	}
	if n := files.count(t); n != 1 || b.count(t) != 1 {
		t.Errorf("%d files and %d leads are kept", n, b.count(t))
	}
	files.refuse = errors.New("the disk is full")
	if got := b.apply(t, "", cv); got.status != 503 || b.count(t) != 1 {
		t.Errorf("a file that cannot be kept: %d, %d leads", got.status, b.count(t))
	}
}

// TestFormFilesCutShort ends a post between its files and its lead, as a crash does.
func TestFormFilesCutShort(t *testing.T) {
	files := &folderFiles{dir: t.TempDir()}
	b := openInbox(t, Options{Files: files}, enquiries)
	lead := decode[leadDocument](t, b.apply(t, "", [3]string{"cv", "cv.txt", "one"})).Lead
	var cut []*upload
	for range 1200 {
		u := &upload{LeadFile: LeadFile{key: newID("file_")}}
		u.to, _ = files.Begin(t.Context(), u.key)
		cut = append(cut, u)
	}
	if err := b.site.commitFiles(t.Context(), cut); err != nil {
		t.Fatal(err)
	}
	preview, err := New(t.Context(), Options{DB: b.platform, Files: files, Preview: true})
	if err != nil || files.count(t) != 1201 {
		t.Errorf("a preview that opens beside the site: %v, %d files", err, files.count(t))
	}
	again, err := New(t.Context(), Options{DB: b.platform, Files: files})
	if err != nil || files.count(t) != 1 {
		t.Fatalf("%v, %d files", err, files.count(t))
	}
	kept, err := again.Store().LeadFiles(t.Context(), lead.ID)
	if err != nil || len(kept) != 1 {
		t.Fatalf("%+v %v", kept, err)
	}
	body, err := kept[0].Open(t.Context(), files)
	if err != nil {
		t.Fatal(err)
	}
	if text, err := io.ReadAll(body); string(text) != "one" || err != nil || body.Close() != nil {
		t.Errorf("%q %v", text, err)
	}
	if err := errors.Join(preview.Close(), again.Close()); err != nil {
		t.Error(err)
	}
}
