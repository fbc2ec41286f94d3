package service

import (
	"context"
	"errors"
	"io/fs"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// This file stops the service when a write did not reach the disk. After an fsync that
// failed the kernel may have dropped what was to be written, and say yes to the next
// one. So none is tried again: nothing is acknowledged any more, and whoever runs the
// service ends the process. The next one begins with what the disk has.

// failStop is whether every write has reached the disk so far.
type failStop struct {
	lost context.Context // ends with the first write that did not
	lose context.CancelCauseFunc
}

func newSoundness(ctx context.Context) failStop {
	lost, lose := context.WithCancelCause(context.WithoutCancel(ctx))
	return failStop{lost, lose}
}

// Failed is closed when a write did not reach the disk. From then on everything is
// refused with 503; the process must end, and must not close the service before.
func (s *Service) Failed() <-chan struct{} { return s.sound.lost.Done() }

// Failure is the write that did not reach the disk; nil as long as all did.
func (s *Service) Failure() error { return context.Cause(s.sound.lost) }

// Notice stops the service if err says that an fsync failed. A Host tells it what its
// own databases failed with.
func (s *Service) Notice(err error) {
	if s.Failure() == nil && isSyncError(err) {
		s.log.Error("a write did not reach the disk: nothing is acknowledged any more", "error", err.Error())
		s.sound.lose(err)
	}
}

// isSyncError reports whether an error is that of an fsync.
func isSyncError(err error) bool {
	const file, folder = 10 | 4<<8, 10 | 5<<8    // SQLITE_IOERR_FSYNC and SQLITE_IOERR_DIR_FSYNC
	if database, ok := errors.AsType[interface { // as the driver's errors and those of hosts are
		error
		Code() int
	}](err); ok && (database.Code() == file || database.Code() == folder) {
		return true
	}
	named, ok := errors.AsType[*fs.PathError](err)
	return ok && named.Op == "sync" || errors.Is(err, blob.ErrBroken)
}

// refuseFailed answers everybody once a write was lost. Nothing ran.
func (s *Service) refuseFailed(x *exchange) {
	const soon = 5
	if s.host != nil && !isLoopback(bareName(x.r.Host)) {
		x.tool = "visit"
		s.cannotShow(x, nil)
		return
	}
	refused := toolapi.NewError(
		toolapi.CodeUnavailable,
		"The service cannot store anything and is ending; nothing ran. Try again when it is back.",
	).After(soon)
	path := x.r.URL.EscapedPath()
	if x.pages = strings.HasPrefix(path, pagesPrefix); x.pages {
		refused.Code = toolapi.CodePagesUnavailable
	}
	if path == toolapi.ImportsPath {
		x.tool = "pages.import"
	}
	s.refuse(x, refused)
}
