package kv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unsafe"

	"modernc.org/sqlite"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/binding/sqlitetext"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// Funcs are the host functions of KvNamespace. find returns the namespace of a binding's id, nil for an unknown one. The
// work is done off the isolate's goroutine; calls on one key take effect in their order.
//
//	kv_get(id, key or keys, type, cacheTtl, withMetadata)
//	kv_receive(id) is the number of a value that comes in pieces: kv_received(number, bytes)
//	kv_put(id, key, value, expiration, expirationTtl, metadata as JSON, number of a value that came in pieces)
//	kv_list(id, prefix, limit, cursor)
//	kv_delete(id, key)
//
// One key gives its value, several give a flat array key, value, key, value …; withMetadata gives {value, metadata,
// cacheStatus} in a value's place. The value of the type "stream" is {body, size}.
func Funcs(open *hostcall.Handles, find func(id string) *Namespace) map[string]engine.Func {
	type work func(ctx context.Context, kv *Namespace) (any, error)
	on := func(c *engine.Call, method, span string, place func(*Namespace, ...string) *hostcall.Turn, keys []string, do work) (any, error) {
		kv := find(c.String(0))
		if kv == nil {
			return nil, engine.TypeError("the key-value binding %q does not exist", c.String(0))
		}
		take := func() *hostcall.Turn { return place(kv, keys...) }
		return hostcall.Traced(hostcall.InOrder(take, func(ctx context.Context, _ *hostcall.Turn) (any, error) {
			value, err := do(ctx, kv)
			return value, WorkerError(method, err)
		}), StartSpan(c.Context(), span, keys...)), nil
	}
	read, write := (*Namespace).Reads, (*Namespace).Writes
	list := func(kv *Namespace, prefix ...string) *hostcall.Turn { return kv.Lists(prefix[0]) }
	return map[string]engine.Func{
		"kv_get": func(c *engine.Call) (any, error) {
			scope := c.Context()
			send := func(b hostcall.Body) (any, error) { return open.SendBody(scope, b) }
			r := readCall{scope: scope, send: send, keys: c.Strings(1), kind: c.String(2), cacheTTL: secondsOf(c, 3), metadata: c.Bool(4)}
			if r.keys != nil {
				return on(c, "GET_BULK", "get", read, r.keys, func(ctx context.Context, kv *Namespace) (any, error) {
					all, err := r.getBulk(ctx, kv)
					return all, err
				})
			}
			r.keys = []string{c.String(1)}
			return on(c, "GET", "get", read, r.keys, r.get)
		},
		"kv_receive": func(c *engine.Call) (any, error) {
			kv := find(c.String(0))
			if kv == nil {
				return nil, engine.TypeError("the key-value binding %q does not exist", c.String(0))
			}
			return open.Add(c.Context(), &incomingValue{kv: kv})
		},
		"kv_received": func(c *engine.Call) (any, error) { return receive(open, c) },
		"kv_put": func(c *engine.Call) (any, error) {
			key := c.String(1)
			o := PutOptions{Expiration: secondsOf(c, 3), TTL: secondsOf(c, 4)}
			if !c.IsNullish(5) {
				o.Metadata = json.RawMessage(c.String(5))
			}
			if !c.IsNullish(6) {
				v, err := hostcall.Lookup[*incomingValue](open, c.Int(6))
				if err != nil {
					return nil, err
				}
				return on(c, "PUT", "put", write, []string{key}, func(ctx context.Context, _ *Namespace) (any, error) {
					return engine.Undefined, v.commit(ctx, key, o)
				})
			}
			value := c.Bytes(2)
			if value == nil {
				value = c.TextBytes(2)
			}
			return on(c, "PUT", "put", write, []string{key}, func(ctx context.Context, kv *Namespace) (any, error) {
				return engine.Undefined, kv.Put(ctx, key, value, o)
			})
		},
		"kv_list": func(c *engine.Call) (any, error) {
			o := ListOptions{Prefix: c.String(1), Limit: int(c.Int(2)), Cursor: c.String(3)}
			return on(c, "GET", "list", list, []string{o.Prefix}, func(ctx context.Context, kv *Namespace) (any, error) {
				entries, cursor, err := kv.List(ctx, o)
				if err != nil {
					return nil, err
				}
				return ListJSON(entries, cursor), nil
			})
		},
		"kv_delete": func(c *engine.Call) (any, error) {
			key := c.String(1)
			return on(c, "DELETE", "delete", write, []string{key}, func(ctx context.Context, kv *Namespace) (any, error) {
				return engine.Undefined, kv.Delete(ctx, key)
			})
		},
	}
}

// receive adds to a value that comes in pieces, and stores the full ones.
func receive(open *hostcall.Handles, c *engine.Call) (any, error) {
	v, err := hostcall.Lookup[*incomingValue](open, c.Int(0))
	if err != nil {
		return nil, err
	}
	const least = 64 << 10 // fewer bytes are not worth a reservation: a piece is soon full
	var release func()
	if n := len(c.View(1)); n >= least {
		if err := c.Reserve(int64(n)); err != nil {
			return nil, err
		}
		if release, err = c.Keep(); err != nil {
			return nil, err
		}
	}
	full, err := v.add(c.View(1), release)
	if !full || err != nil {
		return engine.Undefined, err
	}
	return engine.Async(func(ctx context.Context) (any, error) { return engine.Undefined, WorkerError("PUT", v.store(ctx)) }), nil
}

// secondsOf is argument i, an integer, or nil when it is undefined.
func secondsOf(c *engine.Call, i int) *int64 {
	if c.IsNullish(i) {
		return nil
	}
	return new(c.Int(i))
}

type readCall struct {
	scope    context.Context                  // of the request
	send     func(hostcall.Body) (any, error) // the body is open as long as the request
	keys     []string
	kind     string
	cacheTTL *int64
	metadata bool
}

func (r readCall) get(ctx context.Context, kv *Namespace) (any, error) {
	switch r.kind {
	case "text", "json", "arrayBuffer", "stream":
	default:
		return nil, engine.TypeError(`Unknown response type. Possible types are "text", "arrayBuffer", "json", and "stream".`)
	}
	if err := checkCacheTTL("GET", r.cacheTTL); err != nil {
		return nil, err
	}
	entry, value, err := r.entryAndValue(ctx, kv, r.keys[0])
	if err != nil {
		return nil, err
	}
	if !r.metadata {
		return value, nil
	}
	return engine.Object{{Name: "value", Value: value}, {Name: "metadata", Value: entry.metadata()}, {Name: "cacheStatus", Value: nil}}, nil
}

func (r readCall) entryAndValue(ctx context.Context, kv *Namespace, key string) (entry *Entry, value any, err error) {
	if r.kind != "stream" {
		if entry, err = kv.Get(ctx, key); err == nil && entry != nil {
			value, err = r.value(ctx, entry)
		}
		return entry, value, err
	}
	// The value can be read until the end of the request, not only of this call.
	entry, stream, err := kv.Open(r.scope, key, r.cacheTTL)
	if err != nil || entry == nil {
		return nil, nil, err
	}
	size := stream.Len()
	body, err := r.send(stream)
	return entry, engine.Object{{Name: "body", Value: body}, {Name: "size", Value: size}}, err
}

// getBulk gives key, value, key, value …; a missing key has null, also with metadata.
func (r readCall) getBulk(ctx context.Context, kv *Namespace) ([]any, error) {
	if err := r.checkBulk(); err != nil {
		return nil, err
	}
	var all []any
	size := 0
	for _, key := range r.keys {
		entry, err := kv.Get(ctx, key)
		if err != nil {
			return nil, err
		}
		if entry == nil {
			all = append(all, key, nil)
			continue
		}
		if size += len(entry.Value); size > maxBulkBytes {
			return nil, bulkError(413, "Total size of request exceeds the limit of 25MB")
		}
		value, err := r.value(ctx, entry)
		if limit, ok := errors.AsType[*engine.Error](err); ok && limit.Name == "QuotaExceededError" {
			return nil, err
		}
		if err != nil {
			return nil, bulkError(400, "At least one of the requested keys corresponds to a non-json value")
		}
		if r.metadata {
			value = engine.Object{{Name: "value", Value: value}, {Name: "metadata", Value: entry.metadata()}}
		}
		all = append(all, key, value)
	}
	return all, nil
}

func (r readCall) checkBulk() error {
	switch {
	case r.kind != "text" && r.kind != "json" && r.kind != "":
		return bulkError(400, `"%s" is not a valid type. Use "json" or "text"`, r.kind)
	case len(r.keys) == 0:
		return bulkError(400, "You must request a minimum of 1 key")
	case len(r.keys) > maxBulkKeys:
		return bulkError(400, "You can request a maximum of %d keys", maxBulkKeys)
	}
	for _, key := range r.keys {
		switch {
		case key == "":
			return bulkError(400, "Key names must not be empty")
		case key == "." || key == "..":
			return bulkError(400, `Illegal key name "%s". Please use a different name.`, key)
		case len(key) > maxKey:
			return checkKey("GET_BULK", key)
		}
	}
	return checkCacheTTL("GET_BULK", r.cacheTTL)
}

func bulkError(status int, format string, args ...any) error {
	return &Error{"GET_BULK", status, fmt.Sprintf(format, args...)}
}

func (e *Entry) metadata() any {
	if e == nil || e.Metadata == nil {
		return nil
	}
	return e.Metadata
}

// value returns the entry's value for JavaScript, without a copy.
func (r readCall) value(ctx context.Context, entry *Entry) (any, error) {
	switch r.kind {
	case "json":
		invalid := json.Unmarshal(entry.Value, new(anyJSON))
		text, err := engine.DecodeOwned(ctx, entry.Value)
		if invalid != nil && err == nil { // JavaScript words this error
			return nil, &engine.Error{
				Name: "SyntaxError", Message: fmt.Sprintf("the value of %q is not valid JSON: %v", entry.Key, invalid),
				Props: []engine.Field{{Name: "text", Value: text}},
			}
		}
		return json.RawMessage(unsafe.Slice(unsafe.StringData(text), len(text))), err
	case "text", "":
		return engine.DecodeOwned(ctx, entry.Value)
	default:
		return entry.Value, nil
	}
}

// anyJSON accepts any JSON without storing it.
type anyJSON struct{}

// UnmarshalJSON implements json.Unmarshaler.
func (*anyJSON) UnmarshalJSON([]byte) error { return nil }

// ListJSON is the result of a list as KV writes it.
func ListJSON(entries []Entry, cursor string) json.RawMessage {
	b := []byte(`{"keys":[`)
	for i, e := range entries {
		b = append(hostcall.AppendComma(b, i), `{"name":`...)
		b = hostcall.AppendJSONString(b, e.Key)
		if e.Expiration != 0 {
			b = fmt.Appendf(b, `,"expiration":%d`, e.Expiration)
		}
		if e.Metadata != nil {
			b = append(append(b, `,"metadata":`...), e.Metadata...)
		}
		b = append(b, '}')
	}
	b = fmt.Appendf(b, `],"list_complete":%t`, cursor == "")
	if cursor != "" {
		b = hostcall.AppendJSONString(append(b, `,"cursor":`...), cursor)
	}
	return append(b, `,"cacheStatus":null}`...)
}

// WorkerError is the error of a method, such as GET, as a Worker sees it: a failure of this machine reads as one of the service.
func WorkerError(method string, err error) error {
	if key, ok := errors.AsType[keyError](err); ok {
		return engine.TypeError("%s", string(key))
	}
	if failed, ok := errors.AsType[*sqlite.Error](err); ok {
		return &Error{method, 500, "Internal Server Error: " + sqlitetext.Of(failed)}
	}
	return err
}
