package conformance

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/toolapi"
)

var declareCases = map[string]func(*run){
	"U-001": func(r *run) {
		one := unique("one")
		a := r.declare(site{"index.html": one})
		r.want(a, http.StatusCreated, "")
		if got := a.required(); a.text("state") != "open" || !slices.Equal(got, []string{hash(one)}) ||
			!strings.HasPrefix(a.text("upload_id"), "upl_") || len(a.text("upload_id")) != 30 {
			r.Errorf("got %s", a.body)
		}
		r.cancel(a.text("upload_id"))
	},
	"U-002 U-003 U-004": func(r *run) {
		s := site{"a": unique("a"), "b": unique("b")}
		first := r.declare(s)
		defer r.cancel(first.text("upload_id"))
		again := r.declare(s)
		if r.want(again, http.StatusOK, ""); again.text("upload_id") != first.text("upload_id") ||
			!slices.Equal(again.required(), first.required()) {
			r.Errorf("declared again: %s", again.body)
		}
		list := s.list()
		slices.Reverse(list)
		files, err := json.Marshal(list)
		if err != nil {
			r.Fatal(err)
		}
		reordered := r.post(toolapi.UploadsPath, `{"files":`+string(files)+`, "site_id": "`+r.Site+`", "manifest": { }}`)
		if r.want(reordered, http.StatusOK, ""); reordered.text("upload_id") != first.text("upload_id") ||
			reordered.text("bundle_digest") != first.text("bundle_digest") {
			r.Errorf("reordered: %s", reordered.body)
		}
		list[0]["content_type"] = "text/css"
		typed := r.post(toolapi.UploadsPath, r.body(nil, map[string]any{"files": list}))
		if r.want(typed, http.StatusCreated, ""); typed.text("upload_id") == first.text("upload_id") {
			r.Error("another content type is the same upload")
		}
		r.cancel(typed.text("upload_id"))
	},
	// Files uploaded before are not required again.
	"U-005": func(r *run) {
		s := site{"a": unique("a")}
		r.upload(s)
		s["b"] = s["a"]
		a := r.declare(s)
		if r.want(a, http.StatusCreated, ""); a.text("state") != "complete" || len(a.required()) != 0 {
			r.Errorf("got %s", a.body)
		}
		r.want(r.finalize(a.text("upload_id")), http.StatusOK, "")
	},
	"U-006": func(r *run) {
		one := unique("one")
		id := r.open(site{"a": one, "b": one})
		if got := r.status(id).required(); len(got) != 1 {
			r.Errorf("required %v", got)
		}
		if r.put(id, one); r.status(id).text("state") != "complete" {
			r.Error("not complete")
		}
	},
	"U-007": func(r *run) {
		a := r.post(toolapi.UploadsPath, r.body(nil, map[string]any{"files": many(toolapi.MaxFiles, 1)}))
		if r.want(a, http.StatusCreated, ""); len(a.required()) != toolapi.MaxFiles {
			r.Errorf("%d blobs are required", len(a.required()))
		}
		r.cancel(a.text("upload_id"))
	},
	"U-008 U-009 U-010": func(r *run) {
		r.declareFiles(http.StatusUnprocessableEntity, "file_count_exceeded", many(toolapi.MaxFiles+1, 1)...)
		twenty := many(20, toolapi.MaxFileBytes)
		r.declareFiles(http.StatusCreated, "", twenty...)
		r.declareFiles(http.StatusRequestEntityTooLarge, "bundle_too_large", append(twenty, entryOf("one", 1))...)
		r.declareFiles(http.StatusCreated, "", entryOf("a", toolapi.MaxFileBytes))
		r.declareFiles(http.StatusRequestEntityTooLarge, "file_too_large", entryOf("a", toolapi.MaxFileBytes+1))
	},
	"U-011": func(r *run) {
		for _, size := range []string{"-1", "1.5", `"5"`, "9007199254740993", "null"} {
			r.declareFiles(http.StatusBadRequest, "invalid_arguments", entryOf("a", json.RawMessage(size)))
		}
		r.declareFiles(http.StatusCreated, "", entryOf("a", json.RawMessage("1e3")))
	},
	"U-012 U-013": func(r *run) {
		a, b := entryOf("a", 1), entryOf("a", 1)
		r.declareFiles(http.StatusUnprocessableEntity, "path_collision", a, b)
		b["sha256"] = hash([]byte("another"))
		r.declareFiles(http.StatusUnprocessableEntity, "path_collision", a, b)
		b["path"], b["sha256"], b["size"] = "b", a["sha256"], 2
		r.declareFiles(http.StatusUnprocessableEntity, "size_mismatch", a, b)
	},
	"U-014 U-015 U-016": func(r *run) {
		invalid := map[string]string{
			`{"unknown":1}`: "unknown", `{"routes":[{"pattern":"/a*"}]}`: "pattern",
			`{"entry":""}`: "entry", `{"bindings":{"secrets":[""]}}`: "secrets",
			`{"runtime":{"compatibilityFlags":["x"]}}`: "x", `{"forms":[{"name":"A","event":"custom.a"}]}`: "name",
			`{"bindings":{"database":{"stagedMigrationsPrefix":"x"}}}`: "stagedMigrationsPrefix",
			`{"entry":"worker.js"}`: "worker.js", `{"assets":"public"}`: "public",
			`{"bindings":{"database":{"migrations":"m"}}}`: "migrations",
		}
		for _, l := range limits.All() {
			invalid[fmt.Sprintf(`{"limits":{%q:%d}}`, l.Key, l.Ceiling+1)] = l.Key
		}
		for manifest, named := range invalid {
			a := r.post(toolapi.UploadsPath, r.body(site{"a": []byte("a")}, map[string]any{"manifest": json.RawMessage(manifest)}))
			if r.want(a, http.StatusUnprocessableEntity, "manifest_invalid"); !strings.Contains(a.message(), named) {
				r.Errorf("%s: %q does not name %s", manifest, a.message(), named)
			}
		}
		whole := map[string]any{"manifest": map[string]any{
			"entry": "w.js", "assets": "p", "bindings": map[string]any{"database": map[string]any{"migrations": "m"}},
		}}
		a := r.post(toolapi.UploadsPath, r.body(site{"w.js": unique("w"), "p/a": unique("a"), "m/1.sql": unique("--")}, whole))
		r.want(a, http.StatusCreated, "")
		r.cancel(a.text("upload_id"))
	},
	// Fields that are in no schema are refused.
	"U-017": func(r *run) {
		file, client := entryOf("a", 1), map[string]any{"name": "x", "version": "1", "os": "y"}
		file["mode"] = 1
		for _, more := range []map[string]any{{"extra": 1}, {"files": []any{file}}, {"client": client}} {
			r.want(r.post(toolapi.UploadsPath, r.body(site{"a": unique("a")}, more)), http.StatusBadRequest, "invalid_arguments")
		}
	},
	"U-018": func(r *run) {
		for _, body := range []string{"", "null", "[]", "5", "{"} {
			r.want(r.post(toolapi.UploadsPath, body), http.StatusBadRequest, "tenant_api.malformed_body")
		}
		long := `{"site_id":"` + strings.Repeat("x", toolapi.MaxDeclareBytes+1-14) + `"}`
		r.want(r.post(toolapi.UploadsPath, long), http.StatusRequestEntityTooLarge, "body_too_large")
	},
	// All refused keys get the same response.
	"U-019 U-020": func(r *run) {
		var first []byte
		for _, key := range append([]string{"", "pgk_unknown"}, r.Refused...) {
			body := strings.NewReader(r.body(site{"a": []byte("a")}, nil))
			a := r.do(http.MethodPost, toolapi.UploadsPath, key, body, "Content-Type", "application/json")
			if r.want(a, http.StatusUnauthorized, a.code()); first != nil && !bytes.Equal(first, a.body) {
				r.Errorf("%s is another answer than %s", a.body, first)
			}
			first = a.body
		}
		for _, key := range r.Closed {
			a := r.do(http.MethodPost, toolapi.UploadsPath, key, strings.NewReader("{}"), "Content-Type", "application/json")
			r.want(a, http.StatusForbidden, a.code())
		}
	},
	// Another workspace's site gets the response for an unknown one.
	"U-021": func(r *run) {
		theirs := r.post(toolapi.UploadsPath, r.body(site{"a": []byte("a")}, map[string]any{"site_id": r.OtherSite}))
		unknown := map[string]any{"site_id": "123e4567-e89b-42d3-a456-426614174000"}
		nobodys := r.post(toolapi.UploadsPath, r.body(site{"a": []byte("a")}, unknown))
		r.want(theirs, http.StatusNotFound, "site_not_found")
		if !bytes.Equal(theirs.body, nobodys.body) {
			r.Errorf("%s and %s differ", theirs.body, nobodys.body)
		}
	},
	"U-022": func(r *run) {
		one := site{"a": unique("a")}
		r.asOther().upload(one)
		if got := r.status(r.open(one)).required(); len(got) != 1 {
			r.Error("a blob that only another workspace has is not required")
		}
	},
	// One open upload too many replaces the oldest idle one.
	"U-023": func(r *run) {
		first := unique("0")
		ids := []string{r.open(site{"a": first, "b": unique("later")})}
		r.put(ids[0], first) // which is sending
		for i := range toolapi.MaxOpenUploads {
			ids = append(ids, r.open(site{"a": unique(fmt.Sprint(i))}))
		}
		r.want(r.status(ids[1]), http.StatusGone, "upload_expired")
		for i, id := range ids {
			if a := r.status(id); i != 1 && a.status != http.StatusOK {
				r.Errorf("upload %d of %d: %d %s", i, len(ids), a.status, a.body)
			}
		}
		listed := func() (open []string) {
			a := r.do(http.MethodGet, toolapi.UploadsPath+"?site_id="+r.Site, r.Key, nil)
			var list toolapi.UploadList
			if r.want(a, http.StatusOK, ""); json.Unmarshal(a.body, &list) != nil {
				r.Errorf("got %s", a.body)
			}
			for _, u := range list.Uploads {
				open = append(open, u.UploadID)
				if u.Sending != (u.UploadID == ids[0]) {
					r.Errorf("sending: %s", a.body)
				}
			}
			return open
		}
		if open := listed(); len(open) != toolapi.MaxOpenUploads || slices.Contains(open, ids[1]) {
			r.Errorf("listed %q of %q", open, ids)
		}
		r.cancel(ids[2])
		if open := listed(); len(open) != toolapi.MaxOpenUploads-1 || slices.Contains(open, ids[2]) {
			r.Errorf("listed %q of %q", open, ids)
		}
		theirs := r.do(http.MethodGet, toolapi.UploadsPath+"?site_id="+r.Site, r.OtherKey, nil)
		r.want(theirs, http.StatusNotFound, "site_not_found")
		r.want(r.do(http.MethodDelete, toolapi.UploadPath(ids[3]), r.OtherKey, nil), http.StatusNotFound, "upload_not_found")
	},
	// A base that is not live is a conflict.
	"U-024": func(r *run) {
		finalize := func(base any) response {
			s := site{"a": unique("a")}
			id := r.post(toolapi.UploadsPath, r.body(s, map[string]any{"base_revision": base})).text("upload_id")
			r.put(id, s["a"])
			a := r.finalize(id)
			r.cancel(id)
			return a
		}
		live := r.live()
		r.want(finalize(live), http.StatusOK, "")
		r.want(finalize("r9999-000000000000"), http.StatusConflict, "revision_conflict")
		if live != nil {
			r.want(finalize(nil), http.StatusConflict, "revision_conflict")
		}
	},
	// An operation that is idempotent by itself takes no idempotency key.
	"U-025": func(r *run) {
		one := unique("one")
		id := r.open(site{"a": one})
		blob := toolapi.BlobPath(id, hash(one))
		for method, path := range map[string]string{
			http.MethodGet: toolapi.UploadPath(id), http.MethodDelete: toolapi.UploadPath(id), http.MethodHead: blob, http.MethodPut: blob,
		} {
			a := r.do(method, path, r.Key, bytes.NewReader(one), "Idempotency-Key", "k")
			if a.status != http.StatusBadRequest || method != http.MethodHead && a.code() != "tenant_api.idempotency_unsupported" {
				r.Errorf("%s: %d %s", method, a.status, a.body)
			}
		}
		if r.has(id, one) {
			r.Error("it was stored")
		}
	},
	// An idempotency key is sent again, with the same body and with another.
	"U-026": func(r *run) {
		key, s := strings.TrimSpace(string(unique(""))), site{"a": unique("a")}
		first := r.post(toolapi.UploadsPath, r.body(s, nil), "Idempotency-Key", key)
		again := r.post(toolapi.UploadsPath, r.body(s, nil), "Idempotency-Key", key)
		if r.want(first, http.StatusCreated, ""); again.status != first.status || !bytes.Equal(again.body, first.body) {
			r.Errorf("%d %s is not the first response %s", again.status, again.body, first.body)
		}
		other := r.post(toolapi.UploadsPath, r.body(site{"b": unique("b")}, nil), "Idempotency-Key", key)
		r.want(other, http.StatusUnprocessableEntity, "idempotency_key_reused")
		r.want(r.status(first.text("upload_id")), http.StatusOK, "")
		r.cancel(first.text("upload_id"))
	},
	// A key with two workspaces does not select one.
	"U-027": func(r *run) {
		if r.BothKey == "" {
			return
		}
		for path, body := range map[string]string{
			toolapi.UploadsPath:      r.body(site{"a": []byte("a")}, nil),
			toolapi.PreviewLinksPath: `{"site_id":"` + r.Site + `"}`, toolapi.ImportsPath + "?site_id=" + r.Site: "x",
		} {
			a := r.do(http.MethodPost, path, r.BothKey, strings.NewReader(body), "Content-Type", "application/json")
			if r.want(a, http.StatusUnprocessableEntity, "workspace_ambiguous"); !strings.Contains(a.message(), "acme, globex") {
				r.Errorf("%s: %s", path, a.body)
			}
		}
	},
}

// asOther returns the run of the other key on its site.
func (r *run) asOther() *run {
	o := *r
	o.Key, o.Site, o.OtherKey, o.OtherSite = r.OtherKey, r.OtherSite, r.Key, r.Site
	return &o
}

// live returns the revision that the site serves; nil for none.
func (r *run) live() any {
	r.Helper()
	a := r.post(toolapi.ToolsPath+"page.list", "{}")
	pages, _ := a.fields["pages"].([]any)
	for _, p := range pages {
		if page, _ := p.(map[string]any); page["site_id"] == r.Site {
			return page["live_revision"]
		}
	}
	r.Fatalf("page.list does not list the site: %s", a.body)
	return nil
}

// entryOf makes a declared file.
func entryOf(path string, size any) map[string]any {
	return map[string]any{"path": path, "sha256": hash([]byte(path)), "size": size}
}

func many(n, size int) (all []any) {
	for i := range n {
		all = append(all, entryOf(fmt.Sprint("f", i), size))
	}
	return all
}

// declareFiles declares files, and fails the case unless the response has a status and a code.
func (r *run) declareFiles(status int, code string, files ...any) {
	r.Helper()
	a := r.post(toolapi.UploadsPath, r.body(nil, map[string]any{"files": files}))
	r.want(a, status, code)
	if id := a.text("upload_id"); id != "" {
		r.cancel(id)
	}
}
