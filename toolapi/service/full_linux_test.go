package service_test

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
	"github.com/pages-toolchain/pages/toolapi"
)

// TestFullDiskOfBlobs: a blob that the disk has no room for is refused as such,
// leaves nothing, and is taken when there is room again.
func TestFullDiskOfBlobs(t *testing.T) {
	disk := testmachine.OwnDisk(t, "16m")
	if disk == nil {
		return
	}
	w := newFixtureAt(t, filepath.Join(disk.Dir, "platform.db"))
	text := strings.Repeat("no room for this. ", 10_000)
	id, _ := w.declareText(text)
	disk.Fill()
	if a := w.request(
		http.MethodPut, toolapi.BlobPath(id, digestOf(text)), w.demo.Keys["member"], text,
	); a.status != http.StatusInsufficientStorage || !strings.Contains(string(a.body), `"storage_full"`) {
		t.Errorf("on a full disk: %d %s", a.status, a.body)
	}
	archive, err := http.NewRequestWithContext(
		t.Context(), http.MethodPost, w.server.URL+toolapi.ImportsPath+"?site_id="+w.demo.IDs["site_id"],
		strings.NewReader(text),
	)
	if err != nil {
		t.Fatal(err)
	}
	archive.Header = http.Header{"Authorization": {"Bearer " + w.demo.Keys["member"]}, "Content-Type": {"application/zip"}}
	if a := w.send(archive); a.status != http.StatusInsufficientStorage || !strings.Contains(string(a.body), `"storage_full"`) {
		t.Errorf("an archive on a full disk: %d %s", a.status, a.body)
	}
	call := func() response {
		return w.call("member", "page.create", `{"name": "Pottery"}`, "Idempotency-Key", "pottery")
	}
	if a := call(); a.status != http.StatusInternalServerError || !strings.Contains(string(a.body), "disk is full; nothing changed") {
		t.Errorf("a tool on a full disk: %d %s", a.status, a.body)
	}
	if left, err := os.ReadDir(filepath.Join(disk.Dir, "blobs", "tmp")); err != nil || len(left) != 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	disk.Empty()
	if a := w.request(http.MethodPut, toolapi.BlobPath(id, digestOf(text)), w.demo.Keys["member"], text); a.status != http.StatusCreated {
		t.Errorf("with room: %d %s", a.status, a.body)
	}
	if a := call(); a.status != http.StatusOK || !strings.Contains(string(a.body), `"ok":true`) {
		t.Errorf("a tool with room: %d %s", a.status, a.body)
	}
	if a := w.finalizeText(id); a.status != http.StatusOK || w.service.Failure() != nil {
		t.Errorf("%d %s, %v", a.status, a.body, w.service.Failure())
	}
}

// TestFileThatCannotBeRead: a file that the service cannot open at the moment, for want of
// descriptors say, is not called damaged, and a schedule waits for it.
func TestFileThatCannotBeRead(t *testing.T) {
	w, host := newHostedFixture(t)
	site := w.demo.IDs["site_id"]
	name := w.revisionOf("text")
	w.scheduleNewest(site)
	w.pass(11 * time.Minute)
	args := []any{"site_id", site, "revision", name}
	confirm := js(append(args, "confirmation_id", w.ok("member", "page.publish", js(args...)).text("confirmation_id"))...)
	file := w.blobFile("text")
	if err := os.Rename(file, file+".away"); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(file, file); err != nil { // a loop, which no process can open
		t.Fatal(err)
	}
	if a := w.call("member", "page.publish", confirm); a.status != http.StatusInternalServerError {
		t.Errorf("%d %s", a.status, a.body)
	}
	if err := w.service.PublishDue(t.Context()); err == nil || w.value("SELECT count(*) FROM schedules") != "1" {
		t.Errorf("the schedule was called off: %v", err)
	}
	if err := os.Rename(file+".away", file); err != nil {
		t.Fatal(err)
	}
	if err := w.service.PublishDue(t.Context()); err != nil || host.shownRevisions() != name {
		t.Errorf("shown %q, %v", host.shownRevisions(), err)
	}
}
