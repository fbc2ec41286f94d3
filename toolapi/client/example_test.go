package client_test

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// A call is answered, admitted and refused, or refused by the boundary.
func Example() {
	ctx := context.Background()
	url, demo, end, err := platform(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer end()
	contract := toolapi.NewContract()
	for _, ask := range []struct {
		key   string
		limit toolapi.PageSize
	}{{demo.Keys["member"], 2}, {demo.Keys["member"], 500}, {demo.Keys["revoked"], 2}} {
		c, err := client.New(client.Options{BaseURL: url, Key: ask.key})
		if err != nil {
			fmt.Println(err)
			return
		}
		status, err := client.Run(ctx, c, contract.ContentStatus, toolapi.ContentStatusArgs{Status: "draft", Limit: ask.limit})
		c.Close()
		if refused, ok := errors.AsType[*client.RefusalError](err); ok {
			fmt.Println(refused.Refusal.Code, refused.Refusal.Issues)
		} else if refused, ok := errors.AsType[*client.StatusError](err); ok {
			fmt.Println(refused.Status, refused.Code)
		} else {
			fmt.Println(status.Workspace, len(status.Pieces), "of", status.Total, err)
		}
	}
	// Output:
	// acme 2 of 4 <nil>
	// invalid_arguments [{limit must be at most 100}]
	// 401 tenant_api.unauthorized
}

// platform is the service itself, with the demo, until end is called.
func platform(ctx context.Context) (url string, demo service.Demo, end func(), err error) {
	dir, err := os.MkdirTemp("", "platform")
	if err != nil {
		return "", demo, nil, err
	}
	s, err := service.Open(ctx, filepath.Join(dir, "service.db"), service.Options{})
	if err != nil {
		return "", demo, nil, errors.Join(err, os.RemoveAll(dir))
	}
	server := httptest.NewServer(s)
	end = func() {
		server.Close()
		_, _ = s.Close(), os.RemoveAll(dir)
	}
	demo, err = s.Seed(ctx)
	return server.URL, demo, end, err
}
