// Package otlp sends the spans of requests to a receiver of OpenTelemetry: a collector, Jaeger, a service.
//
// Input: the records of a site's requests. Output: calls of OTLP over HTTP with protobufs (POST …/v1/traces), each with the requests of
// about a second. A request is a span of the kind "server", which its steps belong to. The spans have what the log of requests has:
// no values of SQL, no bodies, no headers, and stars for secrets.
//
// # Limits
//
// [Exporter.Add] never waits. At most 2,048 requests wait for their call; further ones are dropped and counted. The receiver has 10 seconds
// to answer. As OTLP defines it, the statuses 429, 502, 503 and 504 and failures of the network are retried, after the time of Retry-After
// or after 1, 2, 4 … seconds, five times; any other status drops the requests of the call. Redirects are not followed.
//
// Errors: [ParseURL] refuses an address. Failures of a call go to Options.Tell, once until a call succeeds again.
package otlp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/http/httpguts"

	"github.com/pages-toolchain/pages/devserver/site"
)

const (
	queueRoom  = 2048
	batchMost  = 256
	batchEvery = time.Second
	// batchBytes ends a batch; a request has at most some hundred kilobytes.
	batchBytes = 2 << 20

	callTimeout = 10 * time.Second
	callTries   = 5
	firstPause  = time.Second
	longestWait = time.Minute
	// closeTimeout limits the last call when the exporter closes.
	closeTimeout = time.Second
	// maxResponse bounds the part of a response that is read, in bytes.
	maxResponse = 64 << 10
)

var errURL = errors.New("it must be the http or https URL of a receiver, such as http://127.0.0.1:4318, without user, query and fragment")

var errHeaders = errors.New("it must be name=value, or several with commas, with values in the encoding of URLs")

// ParseURL returns the address of calls for that of a receiver.
func ParseURL(text string) (string, error) {
	const path = "/v1/traces"
	u, err := url.Parse(text)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "" || u.User != nil || strings.ContainsAny(text, "?#") {
		return "", errURL
	}
	return strings.TrimSuffix(strings.TrimRight(text, "/"), path) + path, nil
}

// ParseHeaders reads headers as "name=value,name=value", with values in the encoding of URLs, as OTEL_EXPORTER_OTLP_HEADERS has them.
func ParseHeaders(text string) (http.Header, error) {
	h := http.Header{}
	for pair := range strings.SplitSeq(text, ",") {
		if strings.TrimSpace(pair) == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		plain, err := url.PathUnescape(strings.TrimSpace(value))
		name = strings.TrimSpace(name)
		if !ok || err != nil || !httpguts.ValidHeaderFieldName(name) || !httpguts.ValidHeaderFieldValue(plain) {
			return nil, errHeaders
		}
		h.Set(name, plain)
	}
	return h, nil
}

// Options configure an Exporter. URL and Service are required.
type Options struct {
	URL     string      // of ParseURL
	Headers http.Header // of each call
	Service string      // service.name
	Version string      // of pages
	// Tell gets a text for a person: the first of several failures, the end of them, and the drops. Default: none.
	Tell func(text string)
	// Now is the clock of Retry-After. Default time.Now.
	Now func() time.Time
	// Transport sends the calls. Default: that of the system's proxies.
	Transport http.RoundTripper
	// After is time.After by default.
	After func(time.Duration) <-chan time.Time
}

// Exporter sends the spans of requests. Make it with Open, end it with Close. It is safe for concurrent use; nil sends nothing.
type Exporter struct {
	o       Options
	client  *http.Client
	queue   chan site.RequestRecord
	dropped atomic.Int64 // requests
	// failing is set while calls fail, and rejecting after a receiver rejected a part of a call: each is reported once.
	failing, rejecting bool

	closing context.Context //nolint:containedctx // done from Close on
	calls   context.Context //nolint:containedctx // of the calls, until shortly after Close
	stop    context.CancelFunc
	cut     context.CancelFunc // of calls
	done    sync.WaitGroup
}

// Open starts an exporter, which sends until Close.
func Open(ctx context.Context, o Options) *Exporter {
	if o.Tell == nil {
		o.Tell = func(string) {}
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.After == nil {
		o.After = time.After
	}
	if o.Transport == nil {
		o.Transport = &http.Transport{Proxy: http.ProxyFromEnvironment, MaxIdleConns: 1, IdleConnTimeout: longestWait}
	}
	e := &Exporter{o: o, queue: make(chan site.RequestRecord, queueRoom), client: &http.Client{
		Transport: o.Transport, Timeout: callTimeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	ctx = context.WithoutCancel(ctx)
	e.closing, e.stop = context.WithCancel(ctx)
	e.calls, e.cut = context.WithCancel(ctx)
	e.done.Go(e.run)
	return e
}

// Add queues a request. It never waits: a request is dropped if too many are waiting.
func (e *Exporter) Add(rec site.RequestRecord) {
	if e == nil {
		return
	}
	select {
	case e.queue <- rec:
	default:
		e.dropped.Add(1)
	}
}

// Dropped is the number of requests that were not sent.
func (e *Exporter) Dropped() int { return int(e.dropped.Load()) }

// Close sends the waiting requests, for about a second, and ends the exporter.
func (e *Exporter) Close() {
	if e == nil {
		return
	}
	e.stop()
	late := time.AfterFunc(closeTimeout, e.cut)
	defer late.Stop()
	e.done.Wait()
	e.cut()
}

func (e *Exporter) run() {
	for e.closing.Err() == nil {
		select {
		case rec := <-e.queue:
			e.send(e.collect(rec))
		case <-e.closing.Done():
		}
	}
	for len(e.queue) > 0 {
		e.send(e.collect(<-e.queue))
	}
	if n := e.Dropped(); n > 0 {
		e.o.Tell(fmt.Sprintf("the spans of %d requests were not sent to %s", n, e.o.URL))
	}
}

// collect returns the requests of about a second, the first of which is rec. From Close on it does not wait.
func (e *Exporter) collect(rec site.RequestRecord) *batch {
	b := &batch{}
	b.add(rec)
	enough := e.o.After(batchEvery)
	for b.requests < batchMost && len(b.spans) < batchBytes {
		select { // what waits already comes first
		case rec := <-e.queue:
			b.add(rec)
			continue
		default:
		}
		select {
		case rec := <-e.queue:
			b.add(rec)
		case <-enough:
			return b
		case <-e.closing.Done():
			return b
		}
	}
	return b
}

// send makes the call of a batch, with its retries. Close ends the pause before a retry, which is the last one then.
func (e *Exporter) send(b *batch) {
	body := b.request(e.o)
	pause := firstPause
	for try := 1; ; try++ {
		last := try >= callTries || e.closing.Err() != nil
		wait, err := e.call(e.calls, body)
		if err == nil {
			if e.failing {
				e.o.Tell("the receiver of spans at " + e.o.URL + " answers again")
			}
			e.failing = false
			return
		}
		e.reportFailure(err)
		if wait < 0 || last {
			e.dropped.Add(int64(b.requests))
			return
		}
		wait = cmp.Or(wait, pause/2+time.Duration(rand.Int64N(int64(pause/2)+1)))
		pause *= 2
		select {
		case <-e.o.After(min(wait, longestWait)):
		case <-e.closing.Done():
		}
	}
}

// reportFailure reports the first of several failures.
func (e *Exporter) reportFailure(err error) {
	if !e.failing {
		e.o.Tell(fmt.Sprintf("spans are not sent to %s: %v", e.o.URL, err))
	}
	e.failing = true
}

// call sends a body once. After an error, wait is the time before the next attempt: 0 for the usual one, negative for none.
func (e *Exporter) call(ctx context.Context, body []byte) (wait time.Duration, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.o.URL, bytes.NewReader(body))
	if err != nil {
		return -1, err
	}
	maps.Copy(req.Header, e.o.Headers)
	req.Header.Set("Content-Type", "application/x-protobuf")
	req.Header.Set("User-Agent", "pages/"+cmp.Or(e.o.Version, "dev"))
	resp, err := e.client.Do(req)
	if err != nil {
		failed, ok := errors.AsType[*url.Error](err)
		switch {
		case ctx.Err() != nil, ok && failed.Timeout():
			err = errors.New("it does not answer")
		case ok:
			err = failed.Err // without the address, which the message has
		}
		return 0, err
	}
	defer resp.Body.Close()
	answer, err := io.ReadAll(io.LimitReader(resp.Body, maxResponse))
	switch {
	case resp.StatusCode/100 == 2:
		if n, text := rejected(answer); n > 0 && err == nil && !e.rejecting {
			e.rejecting = true
			e.o.Tell(fmt.Sprintf("the receiver of spans at %s rejected %d of them: %q", e.o.URL, n, text))
		}
		return 0, nil
	case resp.StatusCode == http.StatusTooManyRequests, resp.StatusCode == http.StatusBadGateway,
		resp.StatusCode == http.StatusServiceUnavailable, resp.StatusCode == http.StatusGatewayTimeout:
		return e.retryAfter(resp.Header.Get("Retry-After")), errors.New(resp.Status)
	}
	return -1, errors.New(resp.Status)
}

// retryAfter reads a header, which has seconds or a date; 0 without one.
func (e *Exporter) retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	at, err := http.ParseTime(header)
	if err != nil {
		return 0
	}
	return max(at.Sub(e.o.Now()), time.Millisecond)
}
