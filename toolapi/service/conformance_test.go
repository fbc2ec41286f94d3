package service_test

import (
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi/conformance"
)

// TestConformance holds the service to the families U, Z and P from outside.
func TestConformance(t *testing.T) {
	w := newWorld(t)
	conformance.Run(t, conformance.Target{
		URL: w.server.URL, Key: w.demo.Keys["member"], Site: w.demo.IDs["site_id"],
		OtherKey: w.demo.Keys["pinned"], OtherSite: w.value("SELECT id FROM sites WHERE name = 'Globex'"), BothKey: w.demo.Keys["both"],
		Refused: []string{w.demo.Keys["revoked"]}, Closed: []string{w.demo.Keys["no_access"]},
		Pass: func(d time.Duration) { w.pass(d) }, Client: w.server.Client(),
	})
}
