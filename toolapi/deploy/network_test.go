package deploy_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// fault describes the damage to one connection.
type fault struct {
	// cut ends the connection after so many bytes towards the service; 0 lets all pass,
	// -1 ends it at once.
	cut int64
	// back ends it after so many bytes of answers instead.
	back int64
	// reset ends it with RST.
	reset bool
	// chunk is the number of bytes that pass at a time, with pause before each; 0 for any number.
	chunk int
	pause time.Duration
	// hold lets nothing through, and stays open.
	hold bool
}

// network carries connections to an address, with a fault for each.
type network struct {
	*testing.T

	l      net.Listener
	to     string
	faults func(n int) fault

	mu    sync.Mutex
	open  []net.Conn
	ended bool
	wg    sync.WaitGroup
}

func newNetwork(t *testing.T, to string, faults func(n int) fault) *network {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	n := &network{T: t, l: l, to: to, faults: faults}
	n.wg.Go(n.accept)
	t.Cleanup(func() {
		n.mu.Lock()
		n.ended = true
		for _, c := range n.open {
			_ = c.Close() // most are closed
		}
		n.mu.Unlock()
		_ = l.Close()
		n.wg.Wait()
	})
	return n
}

func (n *network) accept() {
	for i := 0; ; i++ {
		in, err := n.l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", n.to)
		if err != nil {
			_ = in.Close() // the service is down
			continue
		}
		n.mu.Lock()
		n.open = append(n.open, in, out)
		if n.ended {
			_ = errors.Join(in.Close(), out.Close())
		}
		n.mu.Unlock()
		f := n.faults(i)
		end := sync.OnceFunc(func() {
			if tcp, ok := in.(*net.TCPConn); ok && f.reset {
				_ = tcp.SetLinger(0)
			}
			_ = errors.Join(in.Close(), out.Close()) // the other end may have
		})
		n.wg.Go(func() { defer end(); f.carry(out, in, f.cut) })
		n.wg.Go(func() { defer end(); f.carry(in, out, f.back) })
	}
}

func (f fault) carry(to io.Writer, from io.Reader, cut int64) {
	if cut < 0 {
		return
	}
	if f.hold {
		_, _ = io.Copy(io.Discard, from)
		return
	}
	size := f.chunk
	if size == 0 {
		size = 16 << 10
	}
	if cut > 0 {
		from = io.LimitReader(from, cut)
	}
	buf := make([]byte, size)
	for {
		k, err := from.Read(buf)
		if k > 0 {
			if f.pause > 0 {
				<-time.After(f.pause)
			}
			if _, err := to.Write(buf[:k]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// over is a deployer whose calls go through a network.
func (w *testService) over(n *network, t *transport) *deploy.Deployer {
	w.Helper()
	d := w.deployer(t)
	c, err := client.New(client.Options{
		BaseURL: "http://" + n.l.Addr().String(), Key: w.demo.Keys["member"], Transport: t, Sleep: sleepBriefly,
		Idle: 500 * time.Millisecond,
	})
	if err != nil {
		w.Fatal(err)
	}
	d.Client = c
	return d
}

// TestNetworks deploys over networks that cut, reset, hold and slow down.
// Each deploy ends with the right bytes and one publish.
func TestNetworks(t *testing.T) {
	first := func(k int, f fault) func(int) fault {
		return func(n int) fault {
			if n < k {
				return f
			}
			return fault{}
		}
	}
	for name, faults := range map[string]func(int) fault{
		"cut at once":          first(3, fault{cut: -1}),
		"cut after 1 KiB":      first(6, fault{cut: 1 << 10}),
		"cut in the middle":    first(6, fault{cut: 30_000}),
		"cut in a head":        first(6, fault{cut: 40}),
		"answers cut":          first(6, fault{back: 100}),
		"answers cut at once":  first(3, fault{back: -1}),
		"reset at once":        first(3, fault{cut: -1, reset: true}),
		"reset in the middle":  first(6, fault{cut: 30_000, reset: true}),
		"reset of answers":     first(6, fault{back: 200, reset: true}),
		"holds for good":       first(2, fault{hold: true}),
		"slices of 7 bytes":    func(int) fault { return fault{chunk: 7} },
		"late":                 func(int) fault { return fault{pause: 20 * time.Millisecond} },
		"every third one dies": func(n int) fault { return []fault{{}, {}, {cut: 20_000}}[n%3] },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTestService(t)
			_, b := folder(t, 12, 6000)
			tr := &transport{}
			revision, err := publish(t.Context(), w.over(newNetwork(t, w.address, faults), tr), b, toolapi.Expect(""))
			if err != nil {
				t.Fatal(err)
			}
			w.checkRevision(revision, b)
			w.publishedOnce(revision)
		})
	}
}

// publishedOnce checks that a revision is live, and the only one of its page beside the
// demo's.
func (w *testService) publishedOnce(revision string) {
	w.Helper()
	d := w.deployer(&transport{})
	list, err := client.Run(w.Context(), d.Client, w.contract.Revisions, toolapi.SiteArgs{SiteID: toolapi.UUID(d.Site)})
	if err != nil || len(list.Revisions) != 2 || !list.Revisions[0].Live || list.Revisions[0].Revision != revision {
		w.Errorf("%v: %+v", err, list.Revisions)
	}
}

// TestRandomNetworks deploys over random faults, again and again until it
// succeeds. It never ends with a wrong site.
func TestRandomNetworks(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			w := newTestService(t)
			_, b := folder(t, 25, 3000)
			random := rand.New(rand.NewPCG(seed, 1))
			var mu sync.Mutex
			bad := 0
			faults := func(int) fault {
				mu.Lock()
				defer mu.Unlock()
				if bad++; bad > 30 || random.IntN(2) == 0 {
					return fault{}
				}
				return []fault{
					{cut: 1 + random.Int64N(80_000), reset: random.IntN(2) == 0},
					{back: 1 + random.Int64N(3_000), reset: random.IntN(2) == 0},
					{cut: -1},
					{chunk: 1 + random.IntN(500)},
					{pause: time.Millisecond},
				}[random.IntN(5)]
			}
			tr := &transport{RoundTripper: &http.Transport{MaxIdleConnsPerHost: 8, DisableKeepAlives: seed%2 == 0}}
			d := w.over(newNetwork(t, w.address, faults), tr)
			for {
				revision, err := publish(t.Context(), d, b, toolapi.Expect(""))
				if err == nil {
					w.checkRevision(revision, b)
					w.publishedOnce(revision)
					return
				}
				if live := w.live(); live != "" {
					t.Fatalf("%s is live after %v", live, err)
				}
				if !errors.As(err, new(*deploy.UnfinishedError)) && !errors.As(err, new(*client.TransportError)) {
					t.Fatal(err)
				}
			}
		})
	}
}
