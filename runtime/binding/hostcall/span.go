package hostcall

import (
	"context"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/trace"
)

// Traced is work with a span of the request, from the issue of the call on.
func Traced(begin engine.AsyncInOrder, span trace.Active) engine.AsyncInOrder {
	if span == (trace.Active{}) {
		return begin
	}
	return func() engine.Async { return TracedAsync(begin(), span) }
}

// TracedAsync is Traced for work without an order.
func TracedAsync(work engine.Async, span trace.Active) engine.Async {
	if span == (trace.Active{}) {
		return work
	}
	return func(ctx context.Context) (any, error) {
		value, err := work(ctx)
		span.End(err)
		return value, err
	}
}
