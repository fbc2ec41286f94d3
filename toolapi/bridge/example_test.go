package bridge_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bridge"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// Every request is answered by a line, also when the service refuses the key.
func ExampleRun() {
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

	const asked = `{"jsonrpc": "2.0", "id": 1, "method": "ping"}` + "\n"
	for _, who := range []string{"member", "revoked"} {
		var out bytes.Buffer
		err := bridge.Run(ctx, strings.NewReader(asked), &out, bridge.Options{Endpoint: server.URL + toolapi.MCPPath, Key: demo.Keys[who]})
		if err != nil {
			fmt.Println(err)
			return
		}
		var answer struct {
			ID     int
			Result json.RawMessage
			Error  struct{ Message string }
		}
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%d %s%s\n", answer.ID, answer.Result, answer.Error.Message)
	}
	// Output:
	// 1 {}
	// 1 Send a valid API key: Authorization: Bearer <API_KEY>.
}
