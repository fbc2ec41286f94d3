package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/binding/kv"
)

// maxBulkRequest bounds the JSON that names keys: 100 of 512 bytes, each up to six in JSON.
const maxBulkRequest = 1 << 20

type namespace struct{ *kv.Namespace }

func (n namespace) serve(ctx context.Context, c *call) error {
	path := c.r.URL.EscapedPath()
	c.record.Method = strings.ToLower(c.r.Method)
	switch {
	case c.r.Method == http.MethodPost && path == "/bulk/get":
		c.record.Method = "getBulk"
		return n.bulk(ctx, c)
	case c.r.Method == http.MethodGet && path == "/":
		c.record.Method = "list"
		return n.list(ctx, c)
	}
	query := c.r.URL.Query()
	key := strings.TrimPrefix(path, "/")
	if strings.EqualFold(query.Get("urlencoded"), "true") {
		decoded, err := url.PathUnescape(key)
		if err != nil || !utf8.ValidString(decoded) {
			return refuse(http.StatusBadRequest, "Could not URL-decode key name")
		}
		key = decoded
	}
	if method := c.record.Method; method == "get" || method == "put" || method == "delete" {
		c.span = kv.StartSpan(ctx, method, key)
	}
	switch c.r.Method {
	case http.MethodGet:
		return n.get(ctx, c, key, query)
	case http.MethodPut:
		return n.put(ctx, c, key, query)
	case http.MethodDelete:
		t := c.place(ctx, func() *hostcall.Turn { return n.Writes(key) })
		_, err := hostcall.Run(ctx, t, func(ctx context.Context, _ *hostcall.Turn) (any, error) { return nil, n.Delete(ctx, key) })
		return n.done(c, err)
	}
	return refuse(http.StatusMethodNotAllowed, "KV has no method %q", c.r.Method)
}

func (n namespace) done(c *call, err error) error {
	if err != nil {
		return err
	}
	c.w.Header().Set("Content-Length", "0")
	c.head(http.StatusOK)
	return nil
}

// seconds parses a parameter as a number of seconds; nil if it is absent. refusal follows the value in the error.
func seconds(query url.Values, name, refusal string) (*int64, error) {
	if !query.Has(name) {
		return nil, nil
	}
	n, err := strconv.ParseInt(query.Get(name), 10, 64)
	if err != nil {
		return nil, refuse(http.StatusBadRequest, "Invalid %s of %s. %s", name, query.Get(name), refusal)
	}
	return &n, nil
}

const greaterThanNought = "Please specify integer greater than 0."

func (n namespace) get(ctx context.Context, c *call, key string, query url.Values) error {
	ttl, err := seconds(query, "cache_ttl", greaterThanNought)
	if err != nil {
		return err
	}
	var entry *kv.Entry
	t := c.place(ctx, func() *hostcall.Turn { return n.Reads(key) })
	body, err := hostcall.Run(ctx, t, func(ctx context.Context, _ *hostcall.Turn) (body hostcall.Body, err error) {
		entry, body, err = n.Open(ctx, key, ttl)
		return body, err
	})
	if err != nil {
		return err
	}
	h := c.w.Header()
	if entry == nil {
		h.Set("Content-Length", "0")
		c.head(http.StatusNotFound)
		return nil
	}
	if entry.Expiration != 0 {
		h.Set("CF-Expiration", strconv.FormatInt(entry.Expiration, 10))
	}
	if entry.Metadata != nil {
		h.Set("CF-KV-Metadata", oneLine(entry.Metadata))
	}
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Length", strconv.FormatInt(body.Len(), 10))
	c.head(http.StatusOK)
	return c.send(body)
}

// oneLine is JSON without line breaks.
func oneLine(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return "null"
	}
	return b.String()
}

func (n namespace) put(ctx context.Context, c *call, key string, query url.Values) error {
	var o kv.PutOptions
	var err error
	if o.TTL, err = seconds(query, "expiration_ttl", greaterThanNought); err != nil {
		return err
	}
	const past = "Please specify integer greater than the current number of seconds since the UNIX epoch."
	if o.Expiration, err = seconds(query, "expiration", past); err != nil {
		return err
	}
	if metadata := c.r.Header.Get("CF-KV-Metadata"); metadata != "" {
		o.Metadata = json.RawMessage(metadata)
		if !json.Valid(o.Metadata) {
			return refuse(http.StatusBadRequest, "Metadata is not JSON.")
		}
	}
	size := c.r.ContentLength
	if err := kv.TooLong(size); err != nil {
		return err
	}
	if size < 0 || size > smallBody {
		c.arrival.done()
		return n.done(c, n.PutStream(ctx, key, c.body(), o))
	}
	value, err := c.whole(ctx, smallBody, kv.TooLong(size))
	if err != nil {
		return err
	}
	t := c.place(ctx, func() *hostcall.Turn { return n.Writes(key) })
	_, err = hostcall.Run(ctx, t, func(ctx context.Context, _ *hostcall.Turn) (any, error) { return nil, n.Put(ctx, key, value, o) })
	return n.done(c, err)
}

func (n namespace) list(ctx context.Context, c *call) error {
	query := c.r.URL.Query()
	limit, err := seconds(query, "key_count_limit", greaterThanNought)
	if err != nil {
		return err
	}
	o := kv.ListOptions{Prefix: query.Get("prefix"), Cursor: query.Get("cursor")}
	if limit != nil {
		o.Limit = int(*limit)
	}
	c.span = kv.StartSpan(ctx, "list", o.Prefix)
	var entries []kv.Entry
	t := c.place(ctx, func() *hostcall.Turn { return n.Lists(o.Prefix) })
	cursor, err := hostcall.Run(ctx, t, func(ctx context.Context, _ *hostcall.Turn) (cursor string, err error) {
		entries, cursor, err = n.List(ctx, o)
		return cursor, err
	})
	if err != nil {
		return err
	}
	for i, e := range entries { // its client takes metadata as a string of JSON
		if e.Metadata != nil {
			entries[i].Metadata = hostcall.AppendJSONString(nil, string(e.Metadata))
		}
	}
	return c.answer(http.StatusOK, "application/json", kv.ListJSON(entries, cursor))
}

// bulkRequest names several keys.
type bulkRequest struct {
	Keys     []string    `json:"keys"`
	Type     string      `json:"type"`
	TTL      json.Number `json:"cacheTtl"`
	Metadata bool        `json:"withMetadata"`
}

func parseBulk(raw []byte) (o kv.BulkOptions, err error) {
	var given bulkRequest
	if err := json.Unmarshal(raw, &given); err != nil {
		return o, refuse(http.StatusBadRequest, "The request for several keys is not valid: %v", err)
	}
	o = kv.BulkOptions{Keys: given.Keys, Type: given.Type, Metadata: given.Metadata}
	if given.TTL != "" {
		n, err := strconv.ParseInt(given.TTL.String(), 10, 64)
		if err != nil {
			return o, refuse(http.StatusBadRequest, "Invalid cache_ttl of %s. %s", given.TTL, greaterThanNought)
		}
		o.CacheTTL = &n
	}
	return o, nil
}

func (n namespace) bulk(ctx context.Context, c *call) error {
	raw, err := c.whole(ctx, maxBulkRequest, refuse(http.StatusRequestEntityTooLarge, "The request for several keys is too long"))
	if err != nil {
		return err
	}
	o, err := parseBulk(raw)
	if err != nil {
		return err
	}
	c.span = kv.StartSpan(ctx, "get", o.Keys...)
	t := c.place(ctx, func() *hostcall.Turn { return n.Reads(o.Keys...) })
	found, err := hostcall.Run(ctx, t, func(ctx context.Context, _ *hostcall.Turn) ([]byte, error) { return n.Bulk(ctx, o) })
	if err != nil {
		return err
	}
	return c.answer(http.StatusOK, "application/json", found)
}
