package kv

import (
	"context"

	"github.com/pages-toolchain/pages/runtime/trace"
)

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
	return recorder.Start("kv_"+method, trace.Word(trace.DBOperation, method), trace.Keys(what, keys))
}
