package devsession

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path"
	"strings"

	"github.com/pages-toolchain/pages/devserver/site"
)

// maxToolBody is the most JSON that a tool reads.
const maxToolBody = 1 << 20

// readArguments reads the JSON body of a tool.
func readArguments(w http.ResponseWriter, r *http.Request, into any) bool {
	d := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxToolBody))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		site.Refuse(w, r, &site.RefusalError{
			Status: http.StatusBadRequest, Code: "body_malformed", Message: strings.TrimPrefix(err.Error(), "json: "),
		})
		return false
	}
	return true
}

// sendDocument sends a document.
func sendDocument(w http.ResponseWriter, r *http.Request, v any) {
	text, err := json.Marshal(v)
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = w.Write(text) // whoever asked may be gone
}

// sendDone answers for what gives nothing back.
func sendDone(w http.ResponseWriter, r *http.Request, err error) {
	if err != nil {
		refuseTool(w, r, err)
		return
	}
	sendDocument(w, r, struct {
		OK bool `json:"ok"`
	}{true})
}

// refuseTool answers for a binding that said no.
func refuseTool(w http.ResponseWriter, r *http.Request, err error) {
	if errors.Is(err, context.Canceled) {
		return // nobody is left to tell
	}
	site.Refuse(w, r, &site.RefusalError{Status: http.StatusUnprocessableEntity, Code: "refused", Message: err.Error()})
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
