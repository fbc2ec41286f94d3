package kv

import (
	"context"
	"strings"

	"github.com/pages-toolchain/pages/runtime/trace"
)

// shownKeys bounds the keys that a span names.
const shownKeys = 20

// StartSpan begins the span of a call: get, put, delete with its keys, or list with its prefix.
func StartSpan(ctx context.Context, method string, keys ...string) trace.Active {
	recorder := trace.From(ctx)
	if recorder == nil {
		return trace.Active{}
	}
	what := trace.KVKeys
	if method == "list" {
		what = trace.KVPrefix
	}
	named := strings.Join(keys[:min(len(keys), shownKeys)], ", ")
	if len(keys) > shownKeys {
		named += ", …"
	}
	return recorder.Start("kv_"+method, trace.Text(trace.DBOperation, method), trace.Text(what, named))
}
