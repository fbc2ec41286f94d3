package cache

import (
	"bufio"
	"bytes"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/runtime/web/compression"
	"github.com/pages-toolchain/pages/runtime/web/fetch"
)

// This file speaks the protocol of workerd's cacheApiOutbound. A request names the whole URL that a response is for, and the cache by
// CF-Cache-Namespace, escaped as a part of a URL; without it, the default one.
//
//	GET    a match: the response with CF-Cache-Status: HIT, or 504 with MISS
//	PUT    of a head and body of HTTP/1.1, encoded as Content-Encoding says, and never in chunks of its own: 204, or 413
//	PURGE  a delete: 200, or 404
//
// A header of the response, which the client does not show, has the reason why a response is not kept.

const (
	// ReasonHeader has the reason why the response of a PUT is not stored.
	ReasonHeader = "Pages-Reason"

	namespaceHeader = "Cf-Cache-Namespace"
	statusHeader    = "Cf-Cache-Status"
	// maxHead is the maximum number of bytes of the head of a response.
	maxHead = 128 << 10
)

// Handler returns the service of the caches for workerd.
func Handler(store *Store, now func() time.Time) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		key, ok := keyOfRequest(r)
		if !ok {
			http.Error(w, "the request names no URL, or no cache", http.StatusBadRequest)
			return
		}
		switch r.Method {
		case http.MethodGet:
			store.serveMatch(w, r, key, now())
		case http.MethodPut:
			store.servePut(w, r, key, now())
		case "PURGE":
			status := http.StatusNotFound
			if store.remove(r.Context(), key, now()) {
				status = http.StatusOK
			}
			w.WriteHeader(status)
		default:
			http.Error(w, "a cache has GET, PUT and PURGE", http.StatusMethodNotAllowed)
		}
	})
}

func keyOfRequest(r *http.Request) (key entryKey, ok bool) {
	at, _, _ := strings.Cut(r.RequestURI, "#")
	key = entryKey{cache: "default:", url: at}
	if escaped, named := r.Header[namespaceHeader]; named {
		name, err := url.PathUnescape(escaped[0])
		if err != nil {
			return key, false
		}
		key.cache = "named:" + name
	}
	return key, strings.Contains(at, "://")
}

func (s *Store) serveMatch(w http.ResponseWriter, r *http.Request, key entryKey, now time.Time) {
	e := s.get(r.Context(), key, now)
	if e == nil {
		w.Header().Set(statusHeader, "MISS")
		w.WriteHeader(http.StatusGatewayTimeout)
		return
	}
	status, header, body := e.answer(r.Header, now)
	for pair := range slices.Chunk(header, 2) {
		w.Header().Add(pair[0], pair[1])
	}
	coding := strings.ToLower(strings.TrimSpace(e.coding()))
	switch {
	case coding == "" || coding == "identity" || body == nil:
	case compression.IsCoding(coding):
		w.WriteHeader(status)
		encoder, done := compression.NewEncoder(w, coding)
		defer done()
		if _, err := encoder.Write(body); err == nil {
			_ = encoder.Close()
		}
		return
	default: // it is not encoded any more
		w.Header().Del("Content-Encoding")
	}
	if body != nil {
		w.Header().Set("Content-Length", strconv.Itoa(len(body)))
	}
	w.WriteHeader(status)
	_, _ = w.Write(body)
}

func (s *Store) servePut(w http.ResponseWriter, r *http.Request, key entryKey, now time.Time) {
	from := bufio.NewReader(r.Body)
	status, header, ok := readHead(from)
	if !ok {
		http.Error(w, "the response to store has no head", http.StatusBadRequest)
		return
	}
	e, reason := newCached(key, status, header, r.Header, now)
	var err error
	if e.body, err = e.decode(r.Context(), from); err != nil {
		http.Error(w, "the response to store broke off", http.StatusBadRequest)
		return
	}
	code := http.StatusNoContent
	if reason = s.keep(r.Context(), e, reason); reason != "" {
		w.Header().Set(ReasonHeader, reason)
		code = http.StatusRequestEntityTooLarge
	}
	w.WriteHeader(code)
}

// readHead reads the head of a response: its headers as names and values in turn.
func readHead(from *bufio.Reader) (status int, header []string, ok bool) {
	head, odd, err := fetch.ReadHead(nil, from, maxHead)
	if err != nil {
		return 0, nil, false
	}
	resp, err := http.ReadResponse(bufio.NewReader(bytes.NewReader(head)), &http.Request{Method: http.MethodHead})
	if err != nil {
		return 0, nil, false
	}
	_ = resp.Body.Close()
	for i := 0; i+1 < len(odd); i += 2 {
		resp.Header.Add(odd[i], odd[i+1])
	}
	for _, name := range slices.Sorted(maps.Keys(resp.Header)) {
		if fetch.IsHopByHop(name) {
			continue
		}
		for _, value := range resp.Header[name] {
			header = append(header, strings.ToLower(name), value)
		}
	}
	return resp.StatusCode, header, true
}
