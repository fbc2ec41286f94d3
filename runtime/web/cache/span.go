package cache

import (
	"context"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// StartSpan begins the span of a call: match, put or delete.
func StartSpan(ctx context.Context, method, url string) trace.Active {
	recorder := trace.From(ctx)
	if recorder == nil {
		return trace.Active{}
	}
	return recorder.Start("cache_"+method, trace.URL(trace.FullURL, url))
}

// traced is work with the span of a call.
func traced(c *engine.Call, method string, key entryKey, work engine.Async) engine.Async {
	span := StartSpan(c.Context(), method, key.url)
	if span == (trace.Active{}) {
		return work
	}
	return func(ctx context.Context) (any, error) {
		value, err := work(ctx)
		span.End(err)
		return value, err
	}
}
