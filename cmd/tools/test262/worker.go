package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// workers runs tests at the top level of Workers, with all their globals.
type workers struct {
	runtime *pagesruntime.Runtime
	suite   *suite
}

// workerCode is the module of a Worker for a test: its setup, its code, and a report of its completion.
const workerCode = `
const printed = [];
globalThis.print = (text) => { printed.push(String(text)); };
globalThis.$262 = {
	global: globalThis,
	evalScript: (code) => (0, eval)(code),
	detachArrayBuffer: (buffer) => { buffer.transfer(); return null; },
};
(0, eval)(%s);
if (%t) {
	for (let jobs = 0; jobs < 10_000 && printed.length === 0; jobs++) await null;
	const [first = "it never completes"] = printed;
	if (first !== "Test262:AsyncTestComplete") throw new Error(first);
}
export default { fetch() { return new Response(); } };
`

// covers reports whether a test runs in a Worker: tests of globals that the bare engine lacks.
func (w *workers) covers(t testFile) bool {
	return strings.HasPrefix(t.path, "test/built-ins/Atomics/") || strings.HasPrefix(t.path, "test/intl402/")
}

// run runs the test in one mode. The first error is the reason for its failure, the second an error of this
// program.
func (w *workers) run(ctx context.Context, t testFile, m mode) (failed, err error) {
	setup, err := w.suite.setup(t)
	if err != nil {
		return nil, err
	}
	code := setup + t.code
	if m == strict {
		code = "\"use strict\";\n" + code
	}
	text, err := json.Marshal(code)
	if err != nil {
		return nil, err
	}
	async := t.flag("async") && t.Negative == nil
	worker, thrown := w.runtime.NewWorker(ctx, pagesruntime.WorkerOptions{
		Name: "worker.js", Code: fmt.Appendf(nil, workerCode, text, async), LoadCPU: longestTest,
	})
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if thrown == nil {
		worker.Close(ctx)
	}
	if t.Negative == nil {
		return thrown, nil
	}
	if failure, ok := errors.AsType[*pagesruntime.Error](thrown); ok {
		thrown = &engine.Error{Name: failure.Name, Message: failure.Message}
	}
	return t.negative(thrown), nil
}
