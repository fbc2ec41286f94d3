package main

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/pages-toolchain/pages/cmd/internal/host"
	"github.com/pages-toolchain/pages/cmd/internal/platform"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// servePlatform is `platform`: runs the tool API with the demo data until the script ends, and puts its address, keys and ids into the
// environment. The member's key is written to the file key, too, and the service account's to the file service. With `platform hosted` the
// published sites have databases.
func servePlatform(ts *testscript.TestScript, _ bool, args []string) {
	dir, err := os.MkdirTemp("", "pages-script-")
	ts.Check(err)
	options := service.Options{PerMinute: platform.MaxRate, LookUpTXT: zoneIn(ts.MkAbs("dns"))}
	closeSites := func() error { return nil }
	if len(args) > 0 && args[0] == "hosted" {
		sites, err := host.New(context.Background(), host.Options{Dir: dir, Now: time.Now, Logger: slog.New(slog.DiscardHandler)})
		ts.Check(err)
		options.Host, closeSites = sites, sites.Close
	}
	s, err := service.Open(context.Background(), filepath.Join(dir, platform.DatabaseFile), options)
	ts.Check(err)
	server := httptest.NewServer(s)
	ts.Defer(func() {
		server.Close()
		if err := errors.Join(closeSites(), s.Close(), os.RemoveAll(dir)); err != nil {
			ts.Logf("%v", err)
		}
	})
	demo, err := s.Seed(context.Background())
	ts.Check(err)
	ts.Setenv("TOMORROW", time.Now().AddDate(0, 0, 1).UTC().Format(time.RFC3339))
	ts.Setenv("PAGES_BASE_URL", server.URL)
	ts.Setenv("PAGES_API_KEY", demo.Keys["member"])
	for name, key := range map[string]string{
		"MEMBER": "member", "SERVICE": "service", "BOTH": "both", "REVOKED": "revoked", "NOACCESS": "no_access",
	} {
		ts.Setenv(name, demo.Keys[key])
	}
	for name, id := range map[string]string{
		"SITE": "site_id", "OTHER": "other_site_id", "NEW": "unpublished_site_id", "DOMAIN": "domain_id",
		"BOARD": "board_id",
	} {
		ts.Setenv(name, demo.IDs[id])
	}
	for file, key := range map[string]string{"key": "member", "service": "service"} {
		ts.Check(os.WriteFile(ts.MkAbs(file), []byte(demo.Keys[key]+"\n"), 0o600))
	}
}

// zoneIn resolves names from a file instead of DNS: each line has a name and its value.
func zoneIn(file string) func(context.Context, string) ([]string, error) {
	return func(_ context.Context, name string) (found []string, err error) {
		text, _ := os.ReadFile(file) // no server yet, or the running one
		for line := range strings.Lines(string(text)) {
			if at, value, _ := strings.Cut(strings.TrimSpace(line), " "); at+"." == name {
				found = append(found, value)
			}
		}
		if found == nil {
			err = &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
		}
		return found, err
	}
}

var proofRecord = regexp.MustCompile(`(_pages-challenge\.[a-z0-9.-]+)[^=]*(pages-challenge=[a-z2-7]+)`)

// prove sets the DNS record that the last command printed as the proof for a domain.
func prove(ts *testscript.TestScript, _ bool, _ []string) {
	found := proofRecord.FindStringSubmatch(ts.ReadFile("stdout") + ts.ReadFile("stderr"))
	if found == nil {
		ts.Fatalf("no record proves a domain")
	}
	ts.Check(os.WriteFile(ts.MkAbs(filepath.Join(ts.Getenv("WORK"), "dns")), []byte(found[1]+" "+found[2]+"\n"), 0o600))
}

var confirmLine = regexp.MustCompile(`pages confirm ([0-9a-f-]{36})`)

// confirmation puts the id of the last printed command that confirms into $CONFIRMATION.
func confirmation(ts *testscript.TestScript, _ bool, _ []string) {
	found := confirmLine.FindStringSubmatch(ts.ReadFile("stdout") + ts.ReadFile("stderr"))
	if found == nil {
		ts.Fatalf("no line confirms")
	}
	ts.Setenv("CONFIRMATION", found[1])
}
