// Package conformance tests a publishing service over HTTP: uploads, imports, preview links and the rules for paths. Each
// case has its id from the protocol's list of tests.
//
// Input: an address and keys (Target). Output: the failures of a *testing.T. The package uses only HTTP, so that it can test any service.
// It leaves uploads and revisions on the sites of the target.
package conformance

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// Target is the service under test.
type Target struct {
	// URL is its address, without a slash at the end.
	URL string
	// Key belongs to a member who may publish Site. Most calls use it.
	Key string
	// Site is a page of the key's only workspace, without open uploads.
	Site string
	// OtherKey has access to OtherSite but not to Site; Key has none to OtherSite.
	OtherKey, OtherSite string
	// BothKey has two workspaces and no default; empty skips its cases.
	BothKey string
	// Refused are keys that get 401, and Closed keys that get 403.
	Refused, Closed []string
	// Pass advances the service's clock; nil skips the cases that need it.
	Pass func(time.Duration)
	// LimitedKey may make a few calls a minute; empty skips its cases.
	LimitedKey string
	// Hurry calls do with a short timeout of the service for request bodies; nil skips the cases that need it.
	Hurry func(do func())
	// Long runs loops at their full length instead of a tenth of it.
	Long bool
	// Client defaults to http.DefaultClient.
	Client *http.Client
}

// run is one case.
type run struct {
	*testing.T
	Target
}

// Run runs every case.
func Run(t *testing.T, target Target) {
	t.Helper()
	if target.Client == nil {
		target.Client = http.DefaultClient
	}
	for _, group := range []map[string]func(*run){
		declareCases, sendCases, finalizeCases, previewCases, importCases, pathCases,
	} {
		for _, id := range slices.Sorted(maps.Keys(group)) {
			t.Run(id, func(t *testing.T) { group[id](&run{t, target}) })
		}
	}
}

type response struct {
	status int
	header http.Header
	body   []byte
	fields map[string]any
}

func (a response) text(name string) string { s, _ := a.fields[name].(string); return s }

// failure is the error in the envelope of section 7.3.
func (a response) failure() map[string]any {
	inner, _ := a.fields["error"].(map[string]any)
	return inner
}

func (a response) code() string { s, _ := a.failure()["code"].(string); return s }

func (a response) message() string { s, _ := a.failure()["message"].(string); return s }

// stored reports whether a blob was stored or existed.
func (a response) stored() bool { return a.status == http.StatusCreated || a.status == http.StatusOK }

func (a response) required() (all []string) {
	list, _ := a.fields["required"].([]any)
	for _, item := range list {
		s, _ := item.(string)
		all = append(all, s)
	}
	return all
}

// do sends a request with a key, or without for "", and checks the rules for every response.
func (r *run) do(method, path, key string, body io.Reader, header ...string) response {
	r.Helper()
	request, err := http.NewRequestWithContext(context.WithoutCancel(r.Context()), method, r.URL+path, body)
	if err != nil {
		r.Fatal(err)
	}
	if key != "" {
		request.Header.Set("Authorization", "Bearer "+key)
	}
	for i := 0; i < len(header); i += 2 {
		request.Header.Add(header[i], header[i+1])
		if header[i] == "Content-Length" {
			if request.ContentLength, err = strconv.ParseInt(header[i+1], 10, 64); err != nil {
				r.Fatal(err)
			}
		}
	}
	resp, err := r.Client.Do(request)
	if err != nil {
		r.Fatal(err)
	}
	defer resp.Body.Close()
	a := response{status: resp.StatusCode, header: resp.Header}
	if a.body, err = io.ReadAll(resp.Body); err != nil {
		r.Fatal(err)
	}
	if len(a.body) > 0 {
		if err := json.Unmarshal(a.body, &a.fields); err != nil {
			r.Fatalf("%s %s: %d %.200s: %v", request.Method, request.URL.Path, a.status, a.body, err)
		}
	}
	name := request.Method + " " + request.URL.Path
	if a.header.Get("X-Service-Api") != "beta" || a.header.Get("X-Request-Id") == "" {
		r.Errorf("%s: %d without x-service-api or x-request-id", name, a.status)
	}
	if rated := a.status != http.StatusUnauthorized && a.status != http.StatusForbidden &&
		a.status != http.StatusMethodNotAllowed; rated != (a.header.Get("RateLimit-Limit") != "") {
		r.Errorf("%s: %d with RateLimit-Limit %q", name, a.status, a.header.Get("RateLimit-Limit"))
	}
	if a.status >= http.StatusBadRequest && request.Method != http.MethodHead && !strings.HasPrefix(request.URL.Path, toolapi.ToolsPath) {
		r.checkEnvelope(name, a)
	}
	return a
}

// checkEnvelope tests a refusal of the upload API.
func (r *run) checkEnvelope(name string, a response) {
	r.Helper()
	for field := range a.failure() {
		if field != "code" && field != "message" && field != "retry_after_seconds" {
			r.Errorf("%s: the error has a field %q", name, field)
		}
	}
	if len(a.fields) != 2 || a.fields["ok"] != false || a.code() == "" || a.message() == "" {
		r.Errorf("%s: %d %s is not an envelope of section 7.3", name, a.status, a.body)
	}
	if a.header.Get("Deprecation") != "" {
		r.Errorf("%s: %d is deprecated", name, a.status)
	}
	if a.status >= http.StatusInternalServerError {
		r.Errorf("%s: %d %s", name, a.status, a.body)
	}
}

// want fails the case unless a response has the status and the code.
func (r *run) want(a response, status int, code string) {
	r.Helper()
	if a.status != status || a.code() != code {
		r.Errorf("want %d %q, got %d %.300s", status, code, a.status, a.body)
	}
}

// unique returns contents that no other case uses.
func unique(what string) []byte { return []byte(what + " " + rand.Text()) }

func hash(contents []byte) string {
	sum := sha256.Sum256(contents)
	return hex.EncodeToString(sum[:])
}

// site has the files of a bundle by path.
type site map[string][]byte

// list returns the files for a declare.
func (s site) list() (all []map[string]any) {
	for _, path := range slices.Sorted(maps.Keys(s)) {
		all = append(all, map[string]any{"path": path, "sha256": hash(s[path]), "size": len(s[path]), "content_type": "text/plain"})
	}
	return all
}

// body makes the JSON of a declare with more or other properties.
func (r *run) body(s site, more map[string]any) string {
	all := map[string]any{"site_id": r.Site, "manifest": map[string]any{}, "files": s.list()}
	maps.Copy(all, more)
	text, err := json.Marshal(all)
	if err != nil {
		r.Fatal(err)
	}
	return string(text)
}

func (r *run) post(path, body string, header ...string) response {
	r.Helper()
	return r.do(http.MethodPost, path, r.Key, strings.NewReader(body), append(header, "Content-Type", "application/json")...)
}

func (r *run) declare(s site) response {
	r.Helper()
	return r.post(toolapi.UploadsPath, r.body(s, nil))
}

// open declares a bundle that must be accepted, and cancels the upload when the case ends.
func (r *run) open(s site) (id string) {
	r.Helper()
	a := r.declare(s)
	id = a.text("upload_id")
	if !a.stored() || id == "" {
		r.Fatalf("declare: %d %s", a.status, a.body)
	}
	r.Cleanup(func() { r.cancel(id) })
	return id
}

func (r *run) cancel(id string) { r.do(http.MethodDelete, toolapi.UploadPath(id), r.Key, nil) }

func (r *run) put(id string, contents []byte) response {
	r.Helper()
	return r.do(http.MethodPut, toolapi.BlobPath(id, hash(contents)), r.Key, bytes.NewReader(contents))
}

func (r *run) has(id string, contents []byte) bool {
	r.Helper()
	return r.do(http.MethodHead, toolapi.BlobPath(id, hash(contents)), r.Key, nil).status == http.StatusOK
}

func (r *run) status(id string) response {
	r.Helper()
	return r.do(http.MethodGet, toolapi.UploadPath(id), r.Key, nil)
}

func (r *run) finalize(id string) response {
	r.Helper()
	return r.post(toolapi.FinalizePath(id), "{}")
}

// upload uploads a bundle and returns its revision.
func (r *run) upload(s site) (revision string) {
	r.Helper()
	id := r.open(s)
	for _, contents := range s {
		if a := r.put(id, contents); !a.stored() {
			r.Fatalf("send: %d %s", a.status, a.body)
		}
	}
	a := r.finalize(id)
	if a.status != http.StatusOK || a.text("revision") == "" {
		r.Fatalf("finalize: %d %s", a.status, a.body)
	}
	return a.text("revision")
}

func compressGzip(contents []byte) []byte {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, _ = w.Write(contents) // to memory
	_ = w.Close()
	return packed.Bytes()
}

// zipOf and tarOf make archives of a site, manifest included.
func zipOf(s site) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range slices.Sorted(maps.Keys(s)) {
		method := zip.Deflate
		if len(s[name]) == 0 { // 65,536 deflaters take minutes under the race detector
			method = zip.Store
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err != nil {
			panic(err) // to memory
		}
		_, _ = f.Write(s[name])
	}
	_ = w.Close()
	return out.Bytes()
}

func tarOf(s site) []byte {
	var entries []tar.Header
	for _, name := range slices.Sorted(maps.Keys(s)) {
		entries = append(entries, tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o644, Size: int64(len(s[name]))})
	}
	return tarWith(s, entries...)
}

// tarWith makes a gzipped tar of the entries, with their contents in s.
func tarWith(s site, entries ...tar.Header) []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, h := range entries {
		if err := w.WriteHeader(&h); err != nil {
			panic(fmt.Sprint(h.Name, err)) // to memory
		}
		if h.Typeflag == tar.TypeReg {
			_, _ = w.Write(s[h.Name])
		}
	}
	_ = w.Close()
	return compressGzip(out.Bytes())
}
