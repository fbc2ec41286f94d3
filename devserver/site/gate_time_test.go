package site

import (
	"bufio"
	"io"
	"math"
	"math/rand/v2"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/manifest"
)

// TestR395Time sends a thousand pairs of requests, in either order, for a private file and a missing one: response times must not show a
// stranger which one exists. A sign test counts how often the file took longer. A result that chance produces once in ten thousand runs
// must come three times in a row to count.
func TestR395Time(t *testing.T) {
	const pairs, most = 1000, 3.9 // standard deviations
	dir, assets := folder(t, privateFiles)
	f := start(t, Options{}, Revision{Assets: assets, AssetsDir: dir, Manifest: &manifest.Manifest{Routes: routes("members /private/*")}})
	conn, err := net.Dial("tcp", f.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	answers := bufio.NewReader(conn)
	ask := func(path string) time.Duration {
		began := time.Now()
		if _, err := io.WriteString(conn, "GET "+path+" HTTP/1.1\r\nHost: localhost\r\n\r\n"); err != nil {
			t.Fatal(err)
		}
		answer, err := http.ReadResponse(answers, nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != http.StatusUnauthorized {
			t.Fatal(answer.Status, err)
		}
		return time.Since(began)
	}
	var off []float64
	for range 3 {
		longer := 0.0
		for range pairs {
			var there, missing time.Duration
			if rand.IntN(2) == 0 {
				there, missing = ask("/private/a"), ask("/private/b")
			} else {
				missing, there = ask("/private/b"), ask("/private/a")
			}
			switch {
			case there > missing:
				longer++
			case there == missing:
				longer += 0.5
			}
		}
		deviations := (longer - pairs/2) / (math.Sqrt(pairs) / 2)
		if math.Abs(deviations) < most {
			return
		}
		off = append(off, deviations)
	}
	t.Errorf("a file that is there takes another time than one that is not: by %.1f standard deviations", off)
}
