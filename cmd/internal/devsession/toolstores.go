package devsession

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/binding/kv"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
)

// This file shows KV and storage on the dashboard. It uses the Worker's own namespace and bucket, under the same rules.

// maxShown bounds a value that is sent as text in JSON.
const maxShown = 256 << 10

// withStore opens a store of the site for a handler.
func withStore[S any](
	open func(context.Context) (S, error), handle func(http.ResponseWriter, *http.Request, S),
) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		store, err := open(r.Context())
		if err != nil {
			refuseTool(w, r, err)
			return
		}
		handle(w, r, store)
	}
}

func (t *tools) openKV(ctx context.Context) (*kv.Namespace, error) {
	if m := t.instance.front.Revision().Manifest; m == nil || m.Bindings.KV == nil {
		return nil, errors.New("the site declares no key-value namespace")
	}
	return t.instance.builder.stores.OpenKV(ctx)
}

func (t *tools) openBucket(ctx context.Context) (*r2.Bucket, error) {
	if m := t.instance.front.Revision().Manifest; m == nil || m.Bindings.Storage == nil {
		return nil, errors.New("the site declares no storage")
	}
	return t.instance.builder.stores.OpenBucket(ctx)
}

// keyDoc is a key in JSON. Text is set if the value is a short text.
type keyDoc struct {
	Key        string          `json:"key"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	Expiration int64           `json:"expiration,omitempty"` // seconds since 1970
	Size       *int            `json:"size,omitempty"`
	Text       *string         `json:"text,omitempty"`
}

// listKeys answers GET /__pages/api/kv?prefix=…&cursor=….
func listKeys(w http.ResponseWriter, r *http.Request, namespace *kv.Namespace) {
	asked := r.URL.Query()
	entries, cursor, err := namespace.List(r.Context(), kv.ListOptions{
		Prefix: asked.Get("prefix"), Cursor: asked.Get("cursor"), Limit: toolPage,
	})
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	keys := []keyDoc{}
	for _, e := range entries {
		keys = append(keys, keyDoc{Key: e.Key, Metadata: e.Metadata, Expiration: e.Expiration})
	}
	sendDocument(w, r, struct {
		OK     bool     `json:"ok"`
		Keys   []keyDoc `json:"keys"`
		Cursor string   `json:"cursor,omitempty"`
	}{true, keys, cursor})
}

// serveValue answers GET /__pages/api/kv/value?key=…, with download=1 the bytes themselves.
func serveValue(w http.ResponseWriter, r *http.Request, namespace *kv.Namespace) {
	key := r.URL.Query().Get("key")
	e, err := namespace.Get(r.Context(), key)
	switch {
	case err != nil:
		refuseTool(w, r, err)
	case e == nil:
		noSuchKey(w, r, key)
	case r.URL.Query().Has("download"):
		asDownload(w, key)
		_, _ = w.Write(e.Value) // the client may be gone
	default:
		size := len(e.Value)
		doc := keyDoc{Key: e.Key, Metadata: e.Metadata, Expiration: e.Expiration, Size: &size}
		if size <= maxShown && utf8.Valid(e.Value) {
			text := string(e.Value)
			doc.Text = &text
		}
		sendDocument(w, r, doc)
	}
}

// putValue answers PUT /__pages/api/kv/value?key=…&ttl=SECONDS with the value as its body.
func putValue(w http.ResponseWriter, r *http.Request, namespace *kv.Namespace) {
	const most = 25 << 20 // KV's own limit
	value, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	var o kv.PutOptions
	if text := r.URL.Query().Get("ttl"); text != "" {
		ttl, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			refuseTool(w, r, err)
			return
		}
		o.TTL = &ttl
	}
	sendDone(w, r, namespace.Put(r.Context(), r.URL.Query().Get("key"), value, o))
}

func deleteValue(w http.ResponseWriter, r *http.Request, namespace *kv.Namespace) {
	sendDone(w, r, namespace.Delete(r.Context(), r.URL.Query().Get("key")))
}

// listObjects answers GET /__pages/api/storage?prefix=…&cursor=…. A folder ends at the next slash.
func listObjects(w http.ResponseWriter, r *http.Request, bucket *r2.Bucket) {
	asked, limit := r.URL.Query(), int64(toolPage)
	page, err := bucket.List(r.Context(), r2.ListOptions{
		Prefix: asked.Get("prefix"), Delimiter: "/", Cursor: asked.Get("cursor"), Limit: &limit,
		Include: []string{"httpMetadata", "customMetadata"},
	})
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	sendDocument(w, r, page)
}

// shownInline lists the types of objects that a page may show as an image. None of them can hold a script that runs there.
var shownInline = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true}

// serveObject answers GET /__pages/api/storage/object?key=… with its bytes.
func serveObject(w http.ResponseWriter, r *http.Request, bucket *r2.Bucket) {
	key := r.URL.Query().Get("key")
	object, body, err := bucket.Get(r.Context(), key, r2.GetOptions{})
	switch {
	case err != nil:
		refuseTool(w, r, err)
		return
	case object == nil:
		noSuchKey(w, r, key)
		return
	}
	defer body.Close()
	asDownload(w, key)
	if object.HTTP != nil && shownInline[object.HTTP.ContentType] && !r.URL.Query().Has("download") {
		w.Header().Set("Content-Type", object.HTTP.ContentType)
		w.Header().Set("Content-Disposition", "inline")
	}
	w.Header().Set("Content-Length", strconv.FormatInt(object.Size, 10))
	w.Header().Set("Last-Modified", time.UnixMilli(object.Uploaded).UTC().Format(http.TimeFormat))
	if r.Method == http.MethodHead {
		return
	}
	if _, err := io.Copy(w, body); err != nil {
		panic(http.ErrAbortHandler) // a partial response must not look complete
	}
}

// putObject answers PUT /__pages/api/storage/object?key=… with the bytes as its body.
func putObject(w http.ResponseWriter, r *http.Request, bucket *r2.Bucket) {
	var o r2.PutOptions
	if kind := r.Header.Get("Content-Type"); kind != "" {
		o.HTTP = &r2.HTTPMetadata{ContentType: kind}
	}
	_, err := bucket.Put(r.Context(), r.URL.Query().Get("key"), r.Body, o)
	sendDone(w, r, err)
}

func deleteObject(w http.ResponseWriter, r *http.Request, bucket *r2.Bucket) {
	sendDone(w, r, bucket.Delete(r.Context(), r.URL.Query().Get("key")))
}
