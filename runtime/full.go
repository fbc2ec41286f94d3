package runtime

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file replaces isolates that met their memory limit. In production such an isolate ends and its requests fail. Here the
// request that met the limit continues with an error at that point, and the next request gets a new isolate. On both,
// variables of the module are lost.

// onFull logs that an isolate met its limit and retires it; it reports whether the isolate starts over instead, which
// happens when as many are retired as may serve. over means that it starts over anyway.
func (w *Worker) onFull(s *slot, scope *engine.Scope, held engine.Held, over bool) bool {
	if s.number == 0 { // still loading: the load returns the error
		return false
	}
	if w.o.Console != nil {
		w.o.Console(w.line(scope, "warn", fullText(held)))
	}
	if over || w.o.Pristine { // it starts over after the request
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case s.isolate.Retired() || w.closing:
		return false
	case s.requests > 0 && len(w.retired) >= w.o.Isolates:
		return true
	}
	s.isolate.Retire()
	w.slots = slices.DeleteFunc(w.slots, func(other *slot) bool { return other == s })
	if s.requests == 0 { // a turn of finalizers
		w.inFlight.Go(s.isolate.Close)
		return false
	}
	w.retired = append(w.retired, s)
	w.host.RestartSockets(s.isolate)
	return false
}

func fullText(held engine.Held) string {
	parts := []string{megabytes(held.Heap) + " in JavaScript's heap with its ArrayBuffers"}
	for _, part := range []struct {
		bytes int64
		what  string
	}{
		{held.Regions, "in memories of WebAssembly"},
		{held.Charged, "in tables and instances of WebAssembly"},
		{held.Outside, "in bodies and results in progress"},
	} {
		if part.bytes >= 100<<10 {
			parts = append(parts, megabytes(part.bytes)+" "+part.what)
		}
	}
	return fmt.Sprintf("memory: the Worker met its limit of %d MB and starts over for the next request, without what the module's "+
		"variables held. It had %s. Keep less at a time: stream bodies, page through results, drop references that are no longer needed",
		engine.DefaultMemoryLimit>>20, strings.Join(parts, ", "))
}

func megabytes(n int64) string { return fmt.Sprintf("%.1f MB", float64(n)/(1<<20)) }
