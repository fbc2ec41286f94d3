// Package workerd runs a site's Worker in a process of workerd, the server of Cloudflare Workers.
package workerd

import (
	"context"
	"errors"
	"net/http"

	"github.com/pages-toolchain/pages/runtime"
)

// Worker is one Worker in a process of its own. Close it. It is safe for concurrent use.
type Worker struct{}

// NewWorker starts a process with the Worker and returns when it answers. A *runtime.Error of KindLoad says that the module threw
// or has no handler.
func (p Program) NewWorker(_ context.Context, _ runtime.WorkerOptions) (*Worker, error) {
	return nil, errors.New("workerd cannot run a Worker yet")
}

// Serve answers r through rw. An error is a *runtime.Error, and means that nothing was written.
func (w *Worker) Serve(_ http.ResponseWriter, _ *http.Request) (runtime.Usage, error) {
	return runtime.Usage{}, &runtime.Error{Kind: runtime.KindInternal, Message: "workerd cannot run a Worker yet"}
}

// Retire prepares for a Worker that takes over: WebSockets end with the code 1012; requests under way go on until Close.
func (w *Worker) Retire() {}

// Close waits for the requests under way until ctx ends, then ends the process.
func (w *Worker) Close(_ context.Context) {}
