package r2

import (
	"context"

	"github.com/pages-toolchain/pages/runtime/trace"
)

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
	return recorder.Start("r2_"+method, trace.Keys(what, keys))
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
