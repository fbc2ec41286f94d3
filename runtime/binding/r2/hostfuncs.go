package r2

import (
	"context"
	"encoding/json"
	"sync"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// Funcs are the host functions of r2.js. Their first argument is the binding's id; objects and options cross as JSON.
func Funcs(open *hostcall.Handles, bucket func(id string) *Bucket) map[string]engine.Func {
	ops := operations{open: open, bucket: bucket}
	return map[string]engine.Func{
		// r2_head(id, key)
		"r2_head": func(c *engine.Call) (any, error) {
			key := c.String(1)
			return ops.inOrder(c, "head", (*Bucket).Reads, []string{key}, func(ctx context.Context, s *Bucket) (any, error) {
				return marshalObject(s.Head(ctx, key))
			})
		},
		"r2_get":       ops.get,
		"r2_put":       ops.put,
		"r2_put_begin": ops.begin,
		// r2_put_chunk(handle, bytes)
		"r2_put_chunk": func(c *engine.Call) (any, error) {
			u, err := hostcall.Lookup[pending](open, c.Int(0))
			if err != nil {
				return nil, err
			}
			content := c.Bytes(1)
			return engine.Async(func(context.Context) (any, error) {
				_, err := u.Write(content)
				return nil, hostcall.WorkerError(err)
			}), nil
		},
		// r2_put_commit(handle) ends the upload.
		"r2_put_commit": func(c *engine.Call) (any, error) {
			id := c.Int(0)
			u, err := hostcall.Lookup[pending](open, id)
			if err != nil {
				return nil, err
			}
			return hostcall.Traced(hostcall.InOrder(u.place, func(ctx context.Context, _ *hostcall.Turn) (any, error) {
				defer open.Close(id)
				value, err := marshalStored(u.finish(ctx))
				return value, hostcall.WorkerError(err)
			}), StartSpan(c.Context(), u.method(), u.key)), nil
		},
		// r2_put_abort(handle)
		"r2_put_abort": func(c *engine.Call) (any, error) {
			open.Close(c.Int(0))
			return engine.Undefined, nil
		},
		// r2_delete(id, keys)
		"r2_delete": func(c *engine.Call) (any, error) {
			keys := c.Strings(1)
			return ops.inOrder(c, "delete", (*Bucket).Writes, keys, func(ctx context.Context, s *Bucket) (any, error) {
				return engine.Undefined, s.Delete(ctx, keys...)
			})
		},
		// r2_list(id, options)
		"r2_list": func(c *engine.Call) (any, error) {
			var o ListOptions
			if err := hostcall.DecodeOptions(c, 1, &o); err != nil {
				return nil, err
			}
			return ops.inOrder(c, "list", list, []string{o.Prefix}, func(ctx context.Context, s *Bucket) (any, error) {
				page, err := s.List(ctx, o)
				if err != nil {
					return nil, err
				}
				return marshal(page)
			})
		},
		// r2_mpu_create(id, key, options) is the upload's id.
		"r2_mpu_create": func(c *engine.Call) (any, error) {
			key := c.String(1)
			var o PutOptions
			if err := hostcall.DecodeOptions(c, 2, &o); err != nil {
				return nil, err
			}
			create := func(ctx context.Context, s *Bucket) (any, error) { return s.CreateMultipart(ctx, key, o) }
			return ops.async(c, "createMultipartUpload", key, create)
		},
		// r2_mpu_complete(id, key, upload, parts)
		"r2_mpu_complete": func(c *engine.Call) (any, error) {
			key, upload := c.String(1), c.String(2)
			var parts []UploadedPart
			if err := hostcall.DecodeOptions(c, 3, &parts); err != nil {
				return nil, err
			}
			complete := func(ctx context.Context, s *Bucket) (any, error) {
				return marshalObject(s.CompleteMultipart(ctx, key, upload, parts))
			}
			return ops.inOrder(c, "completeMultipartUpload", (*Bucket).Writes, []string{key}, complete)
		},
		// r2_mpu_abort(id, key, upload)
		"r2_mpu_abort": func(c *engine.Call) (any, error) {
			key, upload := c.String(1), c.String(2)
			return ops.async(c, "abortMultipartUpload", key, func(ctx context.Context, s *Bucket) (any, error) {
				return engine.Undefined, s.AbortMultipart(ctx, key, upload)
			})
		},
	}
}

type operations struct {
	open   *hostcall.Handles
	bucket func(id string) *Bucket
}

type work func(ctx context.Context, s *Bucket) (any, error)

// place takes the place of a call in the order of the keys that it names.
type place func(s *Bucket, keys ...string) *hostcall.Turn

// list is the place of a list of the keys with a prefix.
func list(s *Bucket, prefix ...string) *hostcall.Turn { return s.Lists(prefix[0]) }

// async runs work on the bucket that argument 0 names, in no order. The method is that of the call's span, which names the key.
func (ops operations) async(c *engine.Call, method, key string, do work) (any, error) {
	unordered := func(s *Bucket, _ ...string) *hostcall.Turn { return s.Reads() }
	return ops.inOrder(c, method, unordered, []string{key}, do)
}

// inOrder is async of work on keys, which runs after earlier calls on the same keys.
func (ops operations) inOrder(c *engine.Call, method string, take place, keys []string, do work) (any, error) {
	id := c.String(0)
	s := ops.bucket(id)
	if s == nil {
		return nil, hostcall.NotBound("storage", id)
	}
	turn := func() *hostcall.Turn { return take(s, keys...) }
	return hostcall.Traced(hostcall.InOrder(turn, func(ctx context.Context, _ *hostcall.Turn) (any, error) {
		value, err := do(ctx, s)
		if err != nil {
			return nil, hostcall.WorkerError(err)
		}
		return value, nil
	}), StartSpan(c.Context(), method, keys...)), nil
}

func marshal(v any) (any, error) {
	text, err := json.Marshal(v)
	return json.RawMessage(text), err
}

func marshalObject(o *Object, err error) (any, error) {
	if o == nil || err != nil {
		return nil, err
	}
	return marshal(o)
}

// r2_get(id, key, options) is null, or {object, body}: bytes, a handle or null.
func (ops operations) get(c *engine.Call) (any, error) {
	key := c.String(1)
	var o GetOptions
	if err := hostcall.DecodeOptions(c, 2, &o); err != nil {
		return nil, err
	}
	scope := c.Context()
	return ops.inOrder(c, "get", (*Bucket).Reads, []string{key}, func(ctx context.Context, s *Bucket) (any, error) {
		object, reader, err := s.Get(ctx, key, o)
		if object == nil || err != nil {
			return nil, err
		}
		meta, err := marshal(object)
		if err != nil || reader == nil {
			return engine.Object{{Name: "object", Value: meta}, {Name: "body", Value: nil}}, err
		}
		content, err := ops.open.SendBody(scope, reader)
		return engine.Object{{Name: "object", Value: meta}, {Name: "body", Value: content}}, err
	})
}

func marshalStored(stored Stored, err error) (any, error) {
	if stored.Part != nil && err == nil {
		return marshal(stored.Part)
	}
	return marshalObject(stored.Object, err)
}

// r2_put(id, key, bytes or string, target)
func (ops operations) put(c *engine.Call) (any, error) {
	key := c.String(1)
	content := c.Bytes(2)
	if content == nil {
		content = c.TextBytes(2)
	}
	var to Target
	if err := hostcall.DecodeOptions(c, 3, &to); err != nil {
		return nil, err
	}
	take := func(s *Bucket, _ ...string) *hostcall.Turn { return s.Puts(key, to) }
	return ops.inOrder(c, to.method(), take, []string{key}, func(ctx context.Context, s *Bucket) (any, error) {
		return marshalStored(s.PutBytes(ctx, key, content, to))
	})
}

type pending struct {
	*Upload

	release func()
}

// Close drops the upload unless it was committed.
func (p pending) Close() error {
	p.Abort()
	p.release()
	return nil
}

// r2_put_begin(id, key, target) is the handle of an upload.
func (ops operations) begin(c *engine.Call) (any, error) {
	key := c.String(1)
	var to Target
	if err := hostcall.DecodeOptions(c, 2, &to); err != nil {
		return nil, err
	}
	scope := c.Context()
	return ops.async(c, "", key, func(_ context.Context, s *Bucket) (any, error) { // its commit has the span
		release, err := s.files.acquireStream()
		if err != nil {
			return nil, err
		}
		u, err := to.begin(s, key)
		if err != nil {
			release()
			return nil, err
		}
		return ops.open.Add(scope, pending{u, sync.OnceFunc(release)})
	})
}
