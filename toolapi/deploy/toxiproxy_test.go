package deploy_test

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// newProxy puts toxiproxy in front of the service.
func newProxy(w *testService) *toxiproxy.Proxy {
	w.Helper()
	logger := zerolog.Nop()
	p := toxiproxy.NewProxy(toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), logger), "service", "127.0.0.1:0", w.address)
	p.Logger = &logger
	if err := p.Start(); err != nil {
		w.Fatal(err)
	}
	w.Cleanup(p.Stop)
	return p
}

// TestToxiproxy runs deploys under the toxics of toxiproxy: under any fault of the network, the deploy ends with the right bytes and one
// publish. The long form has the figures of the rules.
func TestToxiproxy(t *testing.T) {
	patient := os.Getenv("PAGES_SOAK") != ""
	figure := func(short, long int) int {
		if patient {
			return long
		}
		return short
	}
	for name, c := range map[string]struct {
		// toxic is the kind of fault; "" makes the service unreachable.
		toxic string
		// lasts is the duration; 0 means without end.
		lasts time.Duration
	}{
		"cut after 0 B":    {`{"type": "limit_data", "stream": "upstream", "attributes": {"bytes": 0}}`, 200 * time.Millisecond},
		"cut after 1 KiB":  {`{"type": "limit_data", "stream": "upstream", "attributes": {"bytes": 1024}}`, 200 * time.Millisecond},
		"cut at half":      {`{"type": "limit_data", "stream": "upstream", "attributes": {"bytes": 3100}}`, 200 * time.Millisecond},
		"cut in an answer": {`{"type": "limit_data", "stream": "downstream", "attributes": {"bytes": 300}}`, 200 * time.Millisecond},
		"reset at once":    {`{"type": "reset_peer", "stream": "upstream", "attributes": {"timeout": 0}}`, 200 * time.Millisecond},
		"reset meanwhile":  {`{"type": "reset_peer", "stream": "upstream", "attributes": {"timeout": 40}}`, 300 * time.Millisecond},
		"reset of answers": {`{"type": "reset_peer", "stream": "downstream", "attributes": {"timeout": 20}}`, 300 * time.Millisecond},
		"late":             {fmt.Sprintf(`{"type": "latency", "attributes": {"latency": %d}}`, figure(60, 2000)), 0},
		"slow":             {fmt.Sprintf(`{"type": "bandwidth", "stream": "upstream", "attributes": {"rate": %d}}`, figure(200, 50)), 0},
		"byte by byte": {
			fmt.Sprintf(`{"type": "slicer", "stream": "upstream", "attributes": {"average_size": %d, "delay": 10}}`, figure(100, 1)),
			0,
		},
		"nothing gets past": {
			`{"type": "timeout", "stream": "upstream", "attributes": {"timeout": 0}}`,
			time.Duration(figure(1, 10)) * time.Second,
		},
		"no service": {"", time.Duration(figure(1, 5)) * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTestService(t)
			_, b := folder(t, 12, 6000)
			proxy := newProxy(w)
			address := proxy.Listen
			var sent sync.Map // paths of blobs
			ended, published, repeated := make(chan struct{}), make(chan struct{}), make(chan struct{})
			markRepeated := sync.OnceFunc(func() { close(repeated) })
			// The trouble begins with the second file. On a busy machine all requests may wait elsewhere during it, so it continues until
			// the client has sent a file again.
			tr := &transport{RoundTripper: &http.Transport{MaxIdleConnsPerHost: 8}}
			tr.on = func(what string, n int, r *http.Request, next func() (*http.Response, error)) (*http.Response, error) {
				if what != "PUT blobs" {
					return next()
				}
				if _, again := sent.LoadOrStore(r.URL.Path, true); again {
					markRepeated()
				}
				if n == 2 {
					end := trouble(t, proxy, c.toxic)
					go func() {
						defer close(ended)
						if c.lasts == 0 {
							return
						}
						<-time.After(c.lasts)
						select {
						case <-repeated:
						case <-published: // as an error, since nothing can be
						}
						end()
					}()
				}
				return next()
			}
			d := w.deployer(tr)
			var err error
			d.Client, err = client.New(client.Options{
				BaseURL: "http://" + address, Key: w.demo.Keys["member"], Transport: tr,
				Idle: time.Duration(figure(500, 5000)) * time.Millisecond,
				Sleep: func(ctx context.Context, pause time.Duration) error {
					return sleepBriefly(ctx, pause*time.Duration(figure(5, 50)))
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			revision, err := publish(t.Context(), d, b, toolapi.Expect(""))
			close(published)
			<-ended
			if err != nil {
				t.Fatal(err)
			}
			w.checkRevision(revision, b)
			w.publishedOnce(revision)
			if n := tr.count("PUT blobs"); c.lasts > 0 && n <= len(b.Files) {
				t.Errorf("%d files were sent: the network did nothing to them", n)
			}
		})
	}
}

// trouble puts a toxic on all connections; end takes it away.
func trouble(t *testing.T, proxy *toxiproxy.Proxy, toxic string) (end func()) {
	t.Helper()
	if toxic == "" {
		proxy.Stop()
		return func() {
			if err := proxy.Start(); err != nil {
				t.Error(err)
			}
		}
	}
	added, err := proxy.Toxics.AddToxicJson(strings.NewReader(toxic))
	if err != nil {
		t.Error(err)
		return func() {}
	}
	return func() {
		if err := proxy.Toxics.RemoveToxic(context.Background(), added.Name); err != nil {
			t.Error(err)
		}
	}
}
