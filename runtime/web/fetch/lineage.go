package fetch

import (
	"context"
	"sync/atomic"
)

// lineage is how often the site fetched itself on the way to a request, and within
// the visitor's request that all began with.
type lineage struct {
	depth int
	all   *atomic.Int64
}

type lineageKey struct{}

func lineageOf(ctx context.Context) lineage {
	if l, ok := ctx.Value(lineageKey{}).(lineage); ok {
		return l
	}
	return lineage{all: &atomic.Int64{}}
}

// Depth is how often the site fetched itself on the way to a request that came with ctx.
func Depth(ctx context.Context) int { return lineageOf(ctx).depth }
