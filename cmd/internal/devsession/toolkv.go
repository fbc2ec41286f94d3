package devsession

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strconv"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/runtime/binding/kv"
)

// This file holds the dashboard's look into KV. It is the namespace that the Worker has,
// so that both keep to each other's rules.

// maxShown is the most of a value that is sent as text in JSON.
const maxShown = 256 << 10

var errNoKV = errors.New("the site declares no key-value namespace")

// keys is the namespace of the site.
func (t *tools) keys(ctx context.Context) (*kv.Namespace, error) {
	if m := t.life.front.Revision().Manifest; m == nil || m.Bindings.KV == nil {
		return nil, errNoKV
	}
	return t.life.builder.stores.OpenKV(ctx)
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
func (t *tools) listKeys(w http.ResponseWriter, r *http.Request) {
	namespace, err := t.keys(r.Context())
	if err != nil {
		refuseTool(w, r, err)
		return
	}
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
func (t *tools) serveValue(w http.ResponseWriter, r *http.Request) {
	namespace, err := t.keys(r.Context())
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	key := r.URL.Query().Get("key")
	e, err := namespace.Get(r.Context(), key)
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
		sendDocument(w, r, doc)
	}
}

// putValue answers PUT /__pages/api/kv/value?key=…&ttl=SECONDS with the value as its body.
func (t *tools) putValue(w http.ResponseWriter, r *http.Request) {
	namespace, err := t.keys(r.Context())
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	const most = 25 << 20 // what KV takes
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

func (t *tools) deleteValue(w http.ResponseWriter, r *http.Request) {
	namespace, err := t.keys(r.Context())
	if err == nil {
		err = namespace.Delete(r.Context(), r.URL.Query().Get("key"))
	}
	sendDone(w, r, err)
}
