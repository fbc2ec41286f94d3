package web_test

import (
	"net/http"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
)

func TestHello(t *testing.T) {
	w := serve(t, `export default { fetch(request, env) { return new Response(env.GREETING, { headers: { "X-A": "b" } }); } };`, web.Options{})
	resp, body := w.get("/")
	if resp.StatusCode != http.StatusOK || body != "hello" || resp.Header.Get("X-A") != "b" || resp.Header.Get("Content-Type") != "text/plain;charset=UTF-8" {
		t.Errorf("%v %q", resp, body)
	}
}
