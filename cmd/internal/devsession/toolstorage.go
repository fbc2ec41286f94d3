package devsession

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	"github.com/pages-toolchain/pages/runtime/binding/r2"
)

// This file holds the dashboard's look into storage. It is the bucket that the Worker
// has, so that both keep to each other's rules.

var errNoBucket = errors.New("the site declares no storage")

// objects is the bucket of the site.
func (t *tools) objects(ctx context.Context) (*r2.Bucket, error) {
	if m := t.life.front.Revision().Manifest; m == nil || m.Bindings.Storage == nil {
		return nil, errNoBucket
	}
	return t.life.builder.stores.OpenBucket(ctx)
}

// listObjects answers GET /__pages/api/storage?prefix=…&cursor=…. Folders are what
// is before the next slash.
func (t *tools) listObjects(w http.ResponseWriter, r *http.Request) {
	bucket, err := t.objects(r.Context())
	if err != nil {
		refuseTool(w, r, err)
		return
	}
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

// shownInline are the types of objects that a page may show as an image. None of them can hold a script that runs there.
var shownInline = map[string]bool{"image/png": true, "image/jpeg": true, "image/gif": true, "image/webp": true, "image/avif": true}

// serveObject answers GET /__pages/api/storage/object?key=… with its bytes.
func (t *tools) serveObject(w http.ResponseWriter, r *http.Request) {
	bucket, err := t.objects(r.Context())
	if err != nil {
		refuseTool(w, r, err)
		return
	}
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
		panic(http.ErrAbortHandler) // a part must not look like the whole
	}
}

// putObject answers PUT /__pages/api/storage/object?key=… with the bytes as its body.
func (t *tools) putObject(w http.ResponseWriter, r *http.Request) {
	bucket, err := t.objects(r.Context())
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	var o r2.PutOptions
	if kind := r.Header.Get("Content-Type"); kind != "" {
		o.HTTP = &r2.HTTPMetadata{ContentType: kind}
	}
	_, err = bucket.Put(r.Context(), r.URL.Query().Get("key"), r.Body, o)
	sendDone(w, r, err)
}

func (t *tools) deleteObject(w http.ResponseWriter, r *http.Request) {
	bucket, err := t.objects(r.Context())
	if err == nil {
		err = bucket.Delete(r.Context(), r.URL.Query().Get("key"))
	}
	sendDone(w, r, err)
}
