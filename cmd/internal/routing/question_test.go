package routing

import (
	"errors"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

func TestReadQuestion(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"/a", "GET /a"},
		{"/a site", "GET /a site"},
		{"GET /a", "GET /a"},
		{"post /a site", "POST /a site"},
		{"brew /a", "BREW /a"},
		{"/a POST", "POST /a"},
		{"/a POST site", "POST /a site"},
		{"/a site POST", "POST /a site"},
		{"/a post", "GET /a post"},
		{"/a /sites/club", "GET /a /sites/club"},
		{"DELETE /a /sites/club", "DELETE /a /sites/club"},
		{"GET /a GET", "GET /a GET"},
		{"/a ./GET", "GET /a ./GET"},
		{"HTTP://localhost/a?b site", "GET HTTP://localhost/a?b site"},
		{"PUT https://club.example/", "PUT https://club.example/"},
		{"//a", "GET //a"},
		{"", `no path is given; write: pages routes explain GET /path`},
		{"a", `"a": a path starts with "/", a URL with http:// or https://`},
		{"GET site", `"GET" "site": a path starts with "/", a URL with http:// or https://`},
		{"my-site /a", `"my-site" is one argument too many, or out of place: the order is [METHOD] PATH-or-URL [DIR]`},
		{"GET POST /a", `"POST" is one argument too many, or out of place: the order is [METHOD] PATH-or-URL [DIR]`},
		{"/a /b /c", `"/c" is one argument too many, or out of place: the order is [METHOD] PATH-or-URL [DIR]`},
	} {
		t.Run(c.args, func(t *testing.T) {
			q, err := ReadQuestion(strings.Fields(c.args))
			got := strings.Join(append([]string{q.Method, q.Target}, q.Dir...), " ")
			if err != nil {
				got = err.Error()
				if usage, ok := errors.AsType[*failure.Error](err); !ok || usage.Exit != failure.ExitUsage {
					t.Errorf("%s: %#v is no usage error", c.args, err)
				}
			}
			if got != c.want {
				t.Errorf("%s: %s, want %s", c.args, got, c.want)
			}
		})
	}
}
