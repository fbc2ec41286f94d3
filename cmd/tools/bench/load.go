package main

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"regexp"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// connections is the number of concurrent connections, all on one thread for wrk.
const connections = 16

// loader sends requests to a server as fast as it responds.
type loader interface {
	name() string
	// rate is the responses a second. Any but a 2xx is an error.
	rate(ctx context.Context, url string, d time.Duration) (float64, error)
}

// chooseLoader takes wrk when there is one.
func (b *bench) chooseLoader() loader {
	path, err := exec.LookPath(cmp.Or(b.wrk, "wrk"))
	if err != nil {
		b.say("there is no wrk, so our own generator makes the load: rates of fast servers come out lower")
		return ownLoad{now: b.now}
	}
	return wrk{path: path}
}

// rate adds the rate of a side under load, after a load that warms it up.
func (b *bench) rate(ctx context.Context, side string, m measure, address string, warmUp time.Duration) {
	if _, err := b.load.rate(ctx, address, warmUp); err != nil {
		check(fmt.Errorf("warming up %s: %w", address, err))
	}
	rate, err := b.load.rate(ctx, address, b.duration)
	if err != nil {
		check(fmt.Errorf("loading %s: %w", address, err))
	}
	b.results.add(side, m, rate)
}

// wrk is https://github.com/wg/wrk.
type wrk struct{ path string }

func (wrk) name() string { return fmt.Sprintf("wrk -t1 -c%d", connections) }

func (w wrk) rate(ctx context.Context, url string, d time.Duration) (float64, error) {
	out, err := w.run(ctx, d, url)
	if err != nil {
		return 0, err
	}
	return parseWrk(out)
}

func (w wrk) run(ctx context.Context, d time.Duration, args ...string) (string, error) {
	args = append([]string{"-t1", fmt.Sprintf("-c%d", connections), fmt.Sprintf("-d%ds", int(d.Seconds()))}, args...)
	out, err := exec.CommandContext(ctx, w.path, args...).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("wrk: %w: %s", err, out)
	}
	return string(out), nil
}

var (
	wrkRate   = regexp.MustCompile(`Requests/sec:\s+([0-9.]+)`)
	wrkBroken = regexp.MustCompile(`(?m)^\s*(Non-2xx or 3xx responses|Socket errors): .*$`)
	// wrkSlow matches wrk's note on responses over two seconds. The rate excludes them; they are not errors.
	wrkSlow = regexp.MustCompile(`Socket errors: connect 0, read 0, write 0, timeout \d+$`)
)

// tail is the 99th percentile of the response time, in milliseconds.
func (w wrk) tail(ctx context.Context, url string, d time.Duration) (float64, error) {
	out, err := w.run(ctx, d, "--latency", url)
	if err != nil {
		return 0, err
	}
	return parseTail(out)
}

var wrkTail = regexp.MustCompile(`(?m)^\s*99%\s+([0-9.]+)(us|ms|s) *$`)

func parseTail(out string) (float64, error) {
	hit := wrkTail.FindStringSubmatch(out)
	if hit == nil {
		return 0, fmt.Errorf("wrk prints no 99th percentile: %s", out)
	}
	d, err := time.ParseDuration(hit[1] + hit[2])
	return d.Seconds() * 1000, err
}

func parseWrk(out string) (float64, error) {
	if line := wrkBroken.FindString(out); line != "" && !wrkSlow.MatchString(line) {
		return 0, fmt.Errorf("some responses were wrong: %s", line)
	}
	hit := wrkRate.FindStringSubmatch(out)
	if hit == nil {
		return 0, fmt.Errorf("wrk prints no rate: %s", out)
	}
	return strconv.ParseFloat(hit[1], 64)
}

// ownLoad makes the load without wrk.
type ownLoad struct{ now func() time.Time }

func (ownLoad) name() string { return fmt.Sprintf("our own generator, %d connections", connections) }

func (o ownLoad) rate(ctx context.Context, address string, d time.Duration) (float64, error) {
	u, err := url.Parse(address)
	if err != nil {
		return 0, err
	}
	begin := o.now()
	deadline := begin.Add(d)
	var total atomic.Int64
	err = atOnce(connections, func(int) error {
		n, err := o.connection(ctx, u, deadline)
		total.Add(int64(n))
		return err
	})
	return float64(total.Load()) / o.now().Sub(begin).Seconds(), err
}

// atOnce runs what in n goroutines at the same time.
func atOnce(n int, what func(i int) error) error {
	var wg sync.WaitGroup
	errs := make([]error, n)
	for i := range n {
		wg.Go(func() { errs[i] = what(i) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

// connection sends one request after the other until the deadline.
func (o ownLoad) connection(ctx context.Context, u *url.URL, deadline time.Time) (count int, err error) {
	c, err := connect(ctx, u.Host)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	if err := c.SetDeadline(deadline.Add(patience)); err != nil {
		return 0, err
	}
	stop := context.AfterFunc(ctx, func() { _ = c.Close() }) // ends the reading
	defer stop()
	request := "GET " + u.RequestURI() + " HTTP/1.1\r\nHost: " + u.Host + "\r\n\r\n"
	for o.now().Before(deadline) {
		if err := c.exchange(request, io.Discard); err != nil {
			return count, err
		}
		count++
	}
	return count, nil
}

// requester sends requests over one connection, at little cost.
type requester struct {
	net.Conn

	answers *bufio.Reader
}

func connect(ctx context.Context, host string) (*requester, error) {
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", host)
	if err != nil {
		return nil, err
	}
	return &requester{conn, bufio.NewReader(conn)}, nil
}

// exchange sends a request and copies the body of the response, which must be a 2xx.
func (c *requester) exchange(request string, body io.Writer) error {
	if _, err := io.WriteString(c, request); err != nil {
		return err
	}
	res, err := http.ReadResponse(c.answers, nil)
	if err != nil {
		return err
	}
	_, err = io.Copy(body, res.Body)
	if err = errors.Join(err, res.Body.Close()); err == nil && res.StatusCode/100 != 2 {
		err = fmt.Errorf("status %d", res.StatusCode)
	}
	return err
}
