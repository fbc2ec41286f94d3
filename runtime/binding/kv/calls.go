package kv

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file serves calls from outside of an isolate, besides the methods of a Namespace: their place in the order of
// calls, values as streams, several keys at once, and refusals with a status.

// Reads takes the next place of a call that reads keys.
func (kv *Namespace) Reads(keys ...string) *hostcall.Turn { return kv.order.Read(keys...) }

// Writes takes the next place of a call that changes keys.
func (kv *Namespace) Writes(keys ...string) *hostcall.Turn { return kv.order.Write(keys...) }

// Lists takes the next place of a call that lists the keys with a prefix.
func (kv *Namespace) Lists(prefix string) *hostcall.Turn { return kv.order.List(prefix) }

func checkCacheTTL(method string, seconds *int64) error {
	if seconds != nil && *seconds < minCacheTTL {
		return &Error{method, 400, fmt.Sprintf("Invalid cache_ttl of %d. Cache TTL must be at least %d.", *seconds, minCacheTTL)}
	}
	return nil
}

// Open returns the entry of key without its value, and a reader of that, which the caller closes; both are nil when there is none.
// cacheTTL is only validated: nothing is cached.
func (kv *Namespace) Open(ctx context.Context, key string, cacheTTL *int64) (*Entry, hostcall.Body, error) {
	if err := checkCacheTTL("GET", cacheTTL); err != nil {
		return nil, nil, err
	}
	if err := checkKey("GET", key); err != nil {
		return nil, nil, err
	}
	entry, stream, err := kv.open(ctx, key)
	if err != nil || entry == nil {
		return nil, nil, err
	}
	if err := engine.Reserve(ctx, min(stream.Len(), pieceBytes)); err != nil {
		return nil, nil, errors.Join(err, stream.Close())
	}
	return entry, stream, nil
}

// PutStream is Put with the bytes of body, which are stored as they arrive. The call takes its place in the order of calls
// after the last byte, like the put of a stream in a Worker.
func (kv *Namespace) PutStream(ctx context.Context, key string, body io.Reader, o PutOptions) error {
	if _, err := kv.check(key, o); err != nil {
		return err
	}
	if err := engine.Reserve(ctx, 2*pieceBytes); err != nil {
		return err
	}
	incoming := &incomingValue{kv: kv}
	defer incoming.Close() // the next New drops the rest
	chunk := make([]byte, 64<<10)
	for {
		n, err := body.Read(chunk)
		full, tooLong := incoming.add(chunk[:n], nil)
		switch {
		case tooLong != nil:
			return tooLong
		case errors.Is(err, io.EOF):
			_, err := hostcall.Run(ctx, kv.Writes(key), func(ctx context.Context, _ *hostcall.Turn) (any, error) {
				return nil, incoming.commit(ctx, key, o)
			})
			return err
		case err != nil:
			return err
		}
		if full {
			if err := incoming.store(ctx); err != nil {
				return err
			}
		}
	}
}

// TooLong refuses a value by its length alone; nil if that is within the limit.
func TooLong(size int64) error {
	if size > maxValue {
		return valueTooLong(int(size))
	}
	return nil
}

// BulkOptions are those of a read of several keys.
type BulkOptions struct {
	Keys     []string
	Type     string // "text" or "json"; "" is "text"
	CacheTTL *int64
	Metadata bool // return {"value", "metadata"} of each existing key
}

// Bulk returns a JSON object of the values of several keys, null for one that is not there.
func (kv *Namespace) Bulk(ctx context.Context, o BulkOptions) ([]byte, error) {
	r := readCall{scope: ctx, keys: o.Keys, kind: o.Type, cacheTTL: o.CacheTTL, metadata: o.Metadata}
	list, err := r.getBulk(ctx, kv)
	if err != nil {
		return nil, err
	}
	const most = 8 * maxBulkBytes // a byte is up to six in JSON
	out := engine.NewBuffer(ctx, most, bulkError(413, "Total size of request exceeds the limit of 25MB"))
	written := map[string]bool{}
	text := []byte{'{'}
	for i := 0; i+1 < len(list); i += 2 {
		key, _ := list[i].(string)
		if written[key] {
			continue
		}
		text = hostcall.AppendComma(text, len(written))
		written[key] = true
		text = append(hostcall.AppendJSONString(text, key), ':')
		text = appendFound(text, list[i+1])
		if _, err := out.Write(text); err != nil {
			return nil, err
		}
		text = text[:0]
	}
	_, err = out.Write(append(text, '}'))
	return out.Bytes(), err
}

// appendFound writes a value of getBulk as JSON.
func appendFound(b []byte, value any) []byte {
	switch v := value.(type) {
	case string:
		return hostcall.AppendJSONString(b, v)
	case json.RawMessage:
		return append(b, v...)
	case engine.Object:
		b = append(b, '{')
		for i, field := range v {
			b = hostcall.AppendJSONString(hostcall.AppendComma(b, i), field.Name)
			b = appendFound(append(b, ':'), field.Value)
		}
		return append(b, '}')
	default:
		return append(b, "null"...)
	}
}

// Refusal converts err to a refusal of KV: a failure of this machine becomes one of the service, and a lack of memory "unavailable".
func Refusal(method string, err error) *Error {
	err = WorkerError(method, err)
	if refusal, ok := errors.AsType[*Error](err); ok {
		return refusal
	}
	if named, ok := errors.AsType[*engine.Error](err); ok && named.Name == "TypeError" {
		return &Error{method, 400, named.Message}
	} else if ok {
		return &Error{method, 503, named.Message}
	}
	return &Error{method, 500, "Internal Server Error"}
}
