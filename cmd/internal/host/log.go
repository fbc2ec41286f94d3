package host

import (
	"context"
	"fmt"
	"log/slog"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// This file puts what a published page's Worker logs into the log of the service.

// consoleOf logs the lines of a release's Worker. ctx is that of lines which no request is
// behind.
func consoleOf(ctx context.Context, logger *slog.Logger, r service.Release, mask *strings.Replacer) func(pagesruntime.Line) {
	logger = logger.With("page", r.Name, "revision", r.Revision)
	if r.Preview {
		logger = logger.With("preview", true)
	}
	return func(l pagesruntime.Line) {
		l = siteworker.MaskLine(mask, l)
		level, ok := map[string]slog.Level{
			"debug": slog.LevelDebug, "trace": slog.LevelDebug, "warn": slog.LevelWarn, "error": slog.LevelError,
		}[l.Level]
		if !ok {
			level = slog.LevelInfo
		}
		attributes := []slog.Attr{slog.String("text", l.Text)}
		if len(l.Frames) > 0 {
			f := l.Frames[0]
			attributes = append(attributes, slog.String("at", fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column)))
		}
		ctx := ctx
		if l.Request != nil {
			ctx = l.Request.Context()
			attributes = append(
				attributes, slog.String("method", l.Request.Method),
				slog.String("path", mask.Replace(l.Request.URL.EscapedPath())),
			)
		}
		logger.LogAttrs(ctx, level, "console", attributes...)
	}
}
