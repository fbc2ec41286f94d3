package service_test

import (
	"syscall"
	"testing"
	"time"
)

// TestScheduleWithoutFiles: what is scheduled while the process has no file left to open is
// published later, and not called off as damaged.
func TestScheduleWithoutFiles(t *testing.T) {
	w, host := hosting(t)
	revision := w.revisionOf("one")
	args := []any{"site_id", w.demo.IDs["site_id"], "at", w.now().Add(10 * time.Minute).Format(time.RFC3339)}
	id := w.ok("member", "page.schedule_publish", js(args...)).text("confirmation_id")
	w.ok("member", "page.schedule_publish", js(append(args, "confirmation_id", id)...))
	w.pass(time.Hour)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &syscall.Rlimit{Max: before.Max}); err != nil {
		t.Fatal(err)
	}
	failed := w.service.PublishDue(t.Context())
	if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	if left := w.value("SELECT count(*) FROM schedules"); failed == nil || left != "1" || host.seen() != "" {
		t.Errorf("%v, %s schedules are left, shown %q", failed, left, host.seen())
	}
	if err := w.service.PublishDue(t.Context()); err != nil || host.seen() != revision {
		t.Errorf("%v, shown %q", err, host.seen())
	}
}
