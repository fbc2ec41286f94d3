package service_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// A client is tried against the service itself, with the keys of the demo.
func Example() {
	dir, err := os.MkdirTemp("", "platform")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	ctx := context.Background()
	s, err := service.Open(ctx, filepath.Join(dir, "service.db"), service.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer s.Close()
	demo, err := s.Seed(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	server := httptest.NewServer(s)
	defer server.Close()

	r, err := http.NewRequestWithContext(
		ctx, http.MethodPost, server.URL+toolapi.ToolsPath+"content.status", strings.NewReader(`{"limit": 0}`),
	)
	if err != nil {
		fmt.Println(err)
		return
	}
	r.Header.Set("Authorization", "Bearer "+demo.Keys["member"])
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer resp.Body.Close()
	var body bytes.Buffer
	text, err := io.ReadAll(resp.Body)
	fmt.Println(resp.StatusCode, err, json.Indent(&body, text, "", "  "))
	fmt.Print(body.String())
	// Output:
	// 200 <nil> <nil>
	// {
	//   "ok": false,
	//   "code": "invalid_arguments",
	//   "message": "The arguments are not valid; nothing ran.",
	//   "issues": [
	//     {
	//       "path": "limit",
	//       "message": "must be at least 1"
	//     }
	//   ]
	// }
}
