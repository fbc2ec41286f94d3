package runtime_test

import (
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestBlanksInHeaders: the time for a header with a long run of spaces is linear in its length. It was quadratic once: minutes for this
// run.
func TestBlanksInHeaders(t *testing.T) {
	w := mustStart(t, `export default { fetch() {
		const value = "x" + " ".repeat(200000) + "x", headers = new Headers({ a: " \t\r\n" + value + "\n " });
		headers.append("b", "\t \n");
		return Response.json([headers.get("a") === value, headers.get("b"), headers.get("c")]);
	} }`, pagesruntime.WorkerOptions{Limits: pagesruntime.Limits{CPU: 20 * time.Second}})
	if _, got := get(t, serve(t, w), "/"); got != `[true,"",null]` {
		t.Errorf("got %s", got)
	}
}
