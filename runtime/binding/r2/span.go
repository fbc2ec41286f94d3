package r2

import (
	"context"
	"strings"

	"github.com/pages-toolchain/pages/runtime/trace"
)

// shownKeys bounds the keys that a span names.
const shownKeys = 20

// StartSpan begins the span of a call: of the method "list" with its prefix, and of another with its keys; of "" none.
func StartSpan(ctx context.Context, method string, keys ...string) trace.Active {
	recorder := trace.From(ctx)
	if recorder == nil || method == "" {
		return trace.Active{}
	}
	what := trace.R2Key
	if method == "list" {
		what = trace.R2Prefix
	}
	named := strings.Join(keys[:min(len(keys), shownKeys)], ", ")
	if len(keys) > shownKeys {
		named += ", …"
	}
	return recorder.Start("r2_"+method, trace.Text(what, named))
}

// method is that of the span of a put.
func (t *Target) method() string {
	if t.Part != nil {
		return "uploadPart"
	}
	return "put"
}

func (u *Upload) method() string {
	if u.part != nil {
		return "uploadPart"
	}
	return "put"
}
