package service

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// failStop stops the service when a write did not reach the disk. After an fsync that failed the kernel may have dropped
// the pages, and accept the next fsync. So there is no retry: the service acknowledges nothing more, and its process
// must end. The next process begins with the state on disk.
type failStop struct {
	failed context.Context // ends with the first lost write
	fail   context.CancelCauseFunc
}

// Failed is closed when a write did not reach the disk. From then on every request gets 503; the process must end
// without closing the service.
func (s *Service) Failed() <-chan struct{} { return s.failStop.failed.Done() }

// Failure is the error of the write that did not reach the disk; nil as long as all did.
func (s *Service) Failure() error { return context.Cause(s.failStop.failed) }

// Notice stops the service if err is a failed fsync. A Host calls it with the errors of its own databases.
func (s *Service) Notice(err error) {
	if s.Failure() == nil && isSyncError(err) {
		s.log.Error("a write did not reach the disk: the service acknowledges no more changes", "error", err.Error())
		s.failStop.fail(err)
	}
}

// isSyncError reports whether an error is that of an fsync.
func isSyncError(err error) bool {
	const file, folder = 10 | 4<<8, 10 | 5<<8 // SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC
	type sqliteError interface {              // of the driver or of a host
		error
		Code() int
	}
	if database, ok := errors.AsType[sqliteError](err); ok && (database.Code() == file || database.Code() == folder) {
		return true
	}
	named, ok := errors.AsType[*fs.PathError](err)
	return ok && named.Op == "sync" || errors.Is(err, blob.ErrBroken)
}

// refuseFailed refuses every request after a lost write.
func (s *Service) refuseFailed(x *exchange) {
	const soon = 5
	if s.host != nil && !isLoopback(bareName(x.r.Host)) {
		x.tool = "visit"
		s.serveUnavailable(x, nil)
		return
	}
	refused := toolapi.NewError(toolapi.CodeUnavailable,
		"The service cannot write to its disk and is stopping; nothing ran. Try again when it is back.").After(soon)
	path := x.r.URL.EscapedPath()
	if x.pages = strings.HasPrefix(path, pagesPrefix); x.pages {
		refused.Code = toolapi.CodePagesUnavailable
	}
	if path == toolapi.ImportsPath {
		x.tool = "pages.import"
	}
	s.refuse(x, refused)
}
