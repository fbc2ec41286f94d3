package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/runtime/binding"
)

// This file holds the dashboard's look into KV and storage. They are the stores
// that the Worker has, so that both keep to each other's rules.

// maxShown is the most of a value that is sent as text in JSON.
const maxShown = 256 << 10

// toolPage is how many keys a page of a list has.
const toolPage = 100

var (
	errNoKV     = errors.New("the site declares no key-value namespace")
	errNoBucket = errors.New("the site declares no storage")
)

// keys is the namespace of the site, or an answer that there is none.
func (t *devTools) keys(w http.ResponseWriter, r *http.Request) *binding.KV {
	m := t.life.front.Revision().Manifest
	if m == nil || m.Bindings.KV == nil {
		refuseTool(w, r, errNoKV)
		return nil
	}
	kv, err := t.life.builder.stores.openKV(r.Context())
	if err != nil {
		refuseTool(w, r, err)
		return nil
	}
	return kv
}

// objects is the bucket of the site, or an answer that there is none.
func (t *devTools) objects(w http.ResponseWriter, r *http.Request) *binding.Storage {
	m := t.life.front.Revision().Manifest
	if m == nil || m.Bindings.Storage == nil {
		refuseTool(w, r, errNoBucket)
		return nil
	}
	bucket, err := t.life.builder.stores.openBucket(r.Context())
	if err != nil {
		refuseTool(w, r, err)
		return nil
	}
	return bucket
}

// keyDoc is one key in JSON. Text is there where the value is text and not long.
type keyDoc struct {
	Key        string          `json:"key"`
	Metadata   json.RawMessage `json:"metadata,omitempty"`
	Expiration int64           `json:"expiration,omitempty"` // seconds since 1970
	Size       *int            `json:"size,omitempty"`
	Text       *string         `json:"text,omitempty"`
}

// listKeys answers GET /__pages/api/kv?prefix=…&cursor=….
func (t *devTools) listKeys(w http.ResponseWriter, r *http.Request) {
	kv := t.keys(w, r)
	if kv == nil {
		return
	}
	asked := r.URL.Query()
	entries, cursor, err := kv.List(r.Context(), binding.KVListOptions{Prefix: asked.Get("prefix"), Cursor: asked.Get("cursor"), Limit: toolPage})
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	keys := []keyDoc{}
	for _, e := range entries {
		keys = append(keys, keyDoc{Key: e.Key, Metadata: e.Metadata, Expiration: e.Expiration})
	}
	answerTool(w, r, struct {
		OK     bool     `json:"ok"`
		Keys   []keyDoc `json:"keys"`
		Cursor string   `json:"cursor,omitempty"`
	}{true, keys, cursor})
}

// serveValue answers GET /__pages/api/kv/value?key=…, with download=1 the bytes themselves.
func (t *devTools) serveValue(w http.ResponseWriter, r *http.Request) {
	kv := t.keys(w, r)
	if kv == nil {
		return
	}
	key := r.URL.Query().Get("key")
	e, err := kv.Get(r.Context(), key)
	switch {
	case err != nil:
		refuseTool(w, r, err)
	case e == nil:
		noSuchKey(w, r, key)
	case r.URL.Query().Has("download"):
		asDownload(w, key)
		_, _ = w.Write(e.Value) // whoever asked may be gone
	default:
		size := len(e.Value)
		doc := keyDoc{Key: e.Key, Metadata: e.Metadata, Expiration: e.Expiration, Size: &size}
		if size <= maxShown && utf8.Valid(e.Value) {
			text := string(e.Value)
			doc.Text = &text
		}
		answerTool(w, r, doc)
	}
}

func noSuchKey(w http.ResponseWriter, r *http.Request, key string) {
	site.Refuse(w, r, &site.RefusalError{Status: http.StatusNotFound, Code: "no_such_key", Message: fmt.Sprintf("there is no key %q", key)})
}

// asDownload marks bytes that a visitor may have chosen: no browser shows or runs them.
func asDownload(w http.ResponseWriter, key string) {
	h := w.Header()
	h.Set("Content-Type", "application/octet-stream")
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox")
	name := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\/`, r) {
			return '_'
		}
		return r
	}, path.Base(key))
	h.Set("Content-Disposition", `attachment; filename="`+name+`"`)
}

// putValue answers PUT /__pages/api/kv/value?key=…&ttl=SECONDS with the value as its body.
func (t *devTools) putValue(w http.ResponseWriter, r *http.Request) {
	kv := t.keys(w, r)
	if kv == nil {
		return
	}
	const most = 25 << 20 // what KV takes
	value, err := io.ReadAll(http.MaxBytesReader(w, r.Body, most))
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	var o binding.KVPutOptions
	if text := r.URL.Query().Get("ttl"); text != "" {
		ttl, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			refuseTool(w, r, err)
			return
		}
		o.TTL = &ttl
	}
	t.done(w, r, kv.Put(r.Context(), r.URL.Query().Get("key"), value, o))
}

func (t *devTools) deleteValue(w http.ResponseWriter, r *http.Request) {
	if kv := t.keys(w, r); kv != nil {
		t.done(w, r, kv.Delete(r.Context(), r.URL.Query().Get("key")))
	}
}

// done answers for what gives nothing back.
func (t *devTools) done(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	answerTool(w, r, struct {
		OK bool `json:"ok"`
	}{true})
}

// listObjects answers GET /__pages/api/storage?prefix=…&cursor=…. Folders are what
// is before the next slash.
func (t *devTools) listObjects(w http.ResponseWriter, r *http.Request) {
	bucket := t.objects(w, r)
	if bucket == nil {
		return
	}
	asked, limit := r.URL.Query(), int64(toolPage)
	page, err := bucket.List(r.Context(), binding.ListOptions{
		Prefix: asked.Get("prefix"), Delimiter: "/", Cursor: asked.Get("cursor"), Limit: &limit, Include: []string{"httpMetadata", "customMetadata"},
	})
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	answerTool(w, r, page)
}

// shownInline are the types of objects that a page may show as an image. None of them can hold a script that runs there.
var shownInline = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true}

// serveObject answers GET /__pages/api/storage/object?key=… with its bytes.
func (t *devTools) serveObject(w http.ResponseWriter, r *http.Request) {
	bucket := t.objects(w, r)
	if bucket == nil {
		return
	}
	key := r.URL.Query().Get("key")
	object, body, err := bucket.Get(r.Context(), key, binding.GetOptions{})
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
		panic(http.ErrAbortHandler) // a part must not look like the whole
	}
}

// putObject answers PUT /__pages/api/storage/object?key=… with the bytes as its body.
func (t *devTools) putObject(w http.ResponseWriter, r *http.Request) {
	bucket := t.objects(w, r)
	if bucket == nil {
		return
	}
	var o binding.PutOptions
	if kind := r.Header.Get("Content-Type"); kind != "" {
		o.HTTP = &binding.HTTPMetadata{ContentType: kind}
	}
	_, err := bucket.Put(r.Context(), r.URL.Query().Get("key"), r.Body, o)
	t.done(w, r, err)
}

func (t *devTools) deleteObject(w http.ResponseWriter, r *http.Request) {
	if bucket := t.objects(w, r); bucket != nil {
		t.done(w, r, bucket.Delete(r.Context(), r.URL.Query().Get("key")))
	}
}
