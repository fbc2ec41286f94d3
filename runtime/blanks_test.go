package runtime_test

import (
	"testing"
	"time"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

// TestBlanksInHeaders: a header with a long run of blanks takes time by its length,
// where it once took its square: minutes for the run here.
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
