package deploy_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
	"github.com/pages-toolchain/pages/toolapi/service"
)

func Example() {
	if err := publishHello(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// added: public/index.html
	// Publish site “Open studio” at demo-new.localhost: revision r2-23a483ab96a3 goes live at once.
	// live: true
}

// publishHello plans a page of one file, sends it, and publishes it as a person who agrees.
func publishHello(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "platform")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	s, err := service.Open(ctx, filepath.Join(dir, "service.db"), service.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	demo, err := s.Seed(ctx)
	if err != nil {
		return err
	}
	server := httptest.NewServer(s)
	defer server.Close()
	c, err := client.New(client.Options{BaseURL: server.URL, Key: demo.Keys["member"]})
	if err != nil {
		return err
	}
	defer c.Close()

	const page = "<h1>Hello</h1>"
	sum := sha256.Sum256([]byte(page))
	b := deploy.Bundle{Manifest: json.RawMessage(`{"assets": "public"}`), Files: []deploy.File{{
		File: sitefile.File{
			Path: "public/index.html", Size: int64(len(page)), SHA256: hex.EncodeToString(sum[:]),
			ContentType: "text/html; charset=utf-8",
		},
		Open: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(page)), nil },
	}}}
	d := &deploy.Deployer{
		Client: c, Contract: toolapi.NewContract(), Workspace: "acme", Site: demo.IDs["unpublished_site_id"],
		Now: time.Now,
	}
	live, err := d.Look(ctx)
	if err != nil {
		return err
	}
	plan, err := deploy.Compare(live, b)
	if err != nil {
		return err
	}
	fmt.Println("added:", plan.Added[0].Path)
	base := toolapi.Expect(live.Revision)
	sent, err := d.Send(ctx, b, base, &deploy.Progress{})
	if err != nil {
		return err
	}
	proposal, err := d.ProposePublish(ctx, sent.Revision, base, nil)
	if err != nil {
		return err
	}
	fmt.Println(proposal.Summary)
	if _, err := proposal.Confirm(ctx, c); err != nil {
		return err
	}
	live, err = d.Look(ctx)
	fmt.Println("live:", live.Revision == sent.Revision)
	return err
}
