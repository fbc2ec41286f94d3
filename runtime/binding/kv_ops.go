package binding

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// KVFuncs are the host functions of KVNamespace. open gives the namespace of
// a binding's id, nil for an unknown one. The work is done off the isolate's
// goroutine.
//
//	kv_get(id, key or keys, type, cacheTtl, withMetadata)
//	kv_put(id, key, value, expiration, expirationTtl, metadata as JSON)
//	kv_list(id, prefix, limit, cursor)
//	kv_delete(id, key)
//
// One key gives its value, several give a flat array key, value, key, value …;
// withMetadata gives {value, metadata, cacheStatus} in a value's place.
func KVFuncs(open func(id string) *KV) map[string]engine.Func {
	on := func(c *engine.Call, work func(ctx context.Context, kv *KV) (any, error)) (any, error) {
		kv := open(c.String(0))
		if kv == nil {
			return nil, engine.TypeError("the key-value binding %q does not exist", c.String(0))
		}
		return engine.Async(func(ctx context.Context) (any, error) {
			value, err := work(ctx, kv)
			return value, kvJSError(err)
		}), nil
	}
	return map[string]engine.Func{
		"kv_get": func(c *engine.Call) (any, error) {
			r := kvRead{keys: c.Strings(1), kind: c.String(2), cacheTTL: c.Float(3), metadata: c.Bool(4)}
			r.bulk = r.keys != nil
			if !r.bulk {
				r.keys = []string{c.String(1)}
			}
			return on(c, r.run)
		},
		"kv_put": func(c *engine.Call) (any, error) {
			key, value := c.String(1), c.Bytes(2)
			if value == nil {
				value = []byte(strings.ToValidUTF8(c.String(2), "\uFFFD"))
			}
			o := KVPutOptions{Expiration: orZero(c.Float(3)), TTL: orZero(c.Float(4))}
			if !c.IsNullish(5) {
				o.Metadata = json.RawMessage(c.String(5))
			}
			return on(c, func(ctx context.Context, kv *KV) (any, error) { return engine.Undefined, kv.Put(ctx, key, value, o) })
		},
		"kv_list": func(c *engine.Call) (any, error) {
			o := KVListOptions{Prefix: c.String(1), Limit: int(max(min(c.Int(2), math.MaxInt32), 0)), Cursor: c.String(3)}
			return on(c, func(ctx context.Context, kv *KV) (any, error) { return listJSON(kv.List(ctx, o)) })
		},
		"kv_delete": func(c *engine.Call) (any, error) {
			key := c.String(1)
			return on(c, func(ctx context.Context, kv *KV) (any, error) { return engine.Undefined, kv.Delete(ctx, key) })
		},
	}
}

func orZero(f float64) float64 {
	if math.IsNaN(f) {
		return 0
	}
	return f
}

// kvRead is one call of get or getWithMetadata.
type kvRead struct {
	keys     []string
	kind     string
	cacheTTL float64
	bulk     bool
	metadata bool
}

func (r kvRead) run(ctx context.Context, kv *KV) (any, error) {
	if err := r.check(); err != nil {
		return nil, err
	}
	var all []any
	for _, key := range r.keys {
		value, err := r.one(ctx, kv, key)
		if err != nil {
			return nil, err
		}
		if !r.bulk {
			return value, nil
		}
		all = append(all, key, value)
	}
	return all, nil
}

func (r kvRead) check() error {
	method := "GET"
	if r.bulk {
		method = "GET_BULK"
	}
	switch {
	case r.kind != "text" && r.kind != "json" && (r.bulk || r.kind != "arrayBuffer" && r.kind != "stream"):
		possible := `"text", "json", "arrayBuffer", and "stream"`
		if r.bulk {
			possible = `"text" and "json" for several keys`
		}
		return engine.TypeError("Unknown response type. Possible types are %s.", possible)
	case r.bulk && len(r.keys) == 0:
		return &KVError{method, 400, "You must request at least 1 key"}
	case len(r.keys) > maxKVBulk:
		return &KVError{method, 400, fmt.Sprintf("You can request a maximum of %d keys", maxKVBulk)}
	case r.cacheTTL < minKVCacheTTL:
		return &KVError{method, 400, fmt.Sprintf("Invalid cache_ttl of %v. Cache TTL must be at least %d.", r.cacheTTL, minKVCacheTTL)}
	}
	return nil
}

func (r kvRead) one(ctx context.Context, kv *KV, key string) (any, error) {
	entry, err := kv.Get(ctx, key)
	if err != nil {
		return nil, err
	}
	var value, metadata any
	if entry != nil {
		if value, err = r.value(entry); err != nil {
			return nil, err
		}
		if entry.Metadata != nil {
			metadata = entry.Metadata
		}
	}
	if !r.metadata {
		return value, nil
	}
	return engine.Object{{Name: "value", Value: value}, {Name: "metadata", Value: metadata}, {Name: "cacheStatus", Value: nil}}, nil
}

func (r kvRead) value(entry *KVEntry) (any, error) {
	switch r.kind {
	case "json":
		if err := json.Unmarshal(entry.Value, new(json.RawMessage)); err != nil {
			return nil, &engine.Error{Name: "SyntaxError", Message: fmt.Sprintf("the value of %q is not valid JSON: %v", entry.Key, err)}
		}
		return json.RawMessage(strings.ToValidUTF8(string(entry.Value), "\uFFFD")), nil
	case "text":
		return strings.ToValidUTF8(string(entry.Value), "\uFFFD"), nil
	default:
		return entry.Value, nil
	}
}

// listJSON is the answer to list().
func listJSON(entries []KVEntry, cursor string, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	b := []byte(`{"keys":[`)
	for i, e := range entries {
		b = append(appendComma(b, i), `{"name":`...)
		b = appendJSONString(b, e.Key)
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
		b = appendJSONString(append(b, `,"cursor":`...), cursor)
	}
	return json.RawMessage(append(b, `,"cacheStatus":null}`...)), nil
}

// kvJSError is err as a Worker sees it.
func kvJSError(err error) error {
	if key, ok := errors.AsType[kvKeyError](err); ok {
		return engine.TypeError("%s", string(key))
	}
	return err
}
