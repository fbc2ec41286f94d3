package runtime_test

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/runtime/binding"
)

// A Worker is evaluated once and then answers requests. An exception comes back as an error in terms of its own files.
func Example() {
	ctx := context.Background()
	r, err := pagesruntime.Open(ctx, pagesruntime.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close(ctx)
	w, err := r.NewWorker(ctx, pagesruntime.WorkerOptions{
		Name: "worker.js",
		Code: []byte(`export default {
			fetch(request, env) {
				if (new URL(request.url).pathname === "/oops") throw new TypeError("no oar")
				return new Response(env.GREETING + ", rower")
			}
		}`),
		Bindings: &binding.Set{Secrets: map[string]string{"GREETING": "Good morning"}},
		Limits:   pagesruntime.Limits{CPU: time.Second, SubRequests: 20},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer w.Close(ctx)
	for _, path := range []string{"/", "/oops"} {
		answer := httptest.NewRecorder()
		if _, err := w.Serve(answer, httptest.NewRequest(http.MethodGet, path, nil)); err != nil {
			fmt.Println("error:", err)
			continue
		}
		fmt.Println(answer.Code, answer.Body)
	}
	// Output:
	// 200 Good morning, rower
	// error: TypeError: no oar (fetch (worker.js:3:62))
}
