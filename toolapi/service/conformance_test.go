package service_test

import (
	"os"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi/conformance"
)

// TestConformance holds the service to the families U, Z and P from outside.
func TestConformance(t *testing.T) {
	w := newFixture(t)
	conformance.Run(t, conformance.Target{
		URL: w.server.URL, Key: w.demo.Keys["member"], Site: w.demo.IDs["site_id"],
		OtherKey: w.demo.Keys["pinned"], OtherSite: w.value("SELECT id FROM sites WHERE name = 'Globex'"), BothKey: w.demo.Keys["both"],
		Refused: []string{w.demo.Keys["revoked"]}, Closed: []string{w.demo.Keys["no_access"]},
		LimitedKey: w.demo.Keys["limited"], Long: os.Getenv("PAGES_SOAK") != "",
		Hurry: func(do func()) {
			defer w.service.Pace(50 * time.Millisecond)()
			do()
		},
		Pass: func(d time.Duration) { w.pass(d) }, Client: w.server.Client(),
	})
}
