package conformance

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

var finalizeCases = map[string]func(*run){
	// A bundle that is finalized repeatedly gives one revision, which does not go live.
	"U-060 U-062": func(r *run) {
		before := r.live()
		s := site{"a": unique("a")}
		id := r.open(s)
		r.put(id, s["a"])
		first, again := r.finalize(id), r.finalize(id)
		r.want(first, http.StatusOK, "")
		r.want(again, http.StatusOK, "")
		if first.text("state") != "ready" || first.fields["already_existed"] != false || again.fields["already_existed"] != true ||
			again.text("revision") != first.text("revision") {
			r.Errorf("%s and %s", first.body, again.body)
		}
		digest := r.status(id)
		if name := first.text("revision"); digest.text("state") != "finalized" || !strings.HasPrefix(name, "r") ||
			!strings.HasSuffix(name, "-"+digest.text("bundle_digest")[len("sha256:"):][:12]) {
			r.Errorf("revision %s of %s", first.text("revision"), digest.body)
		}
		second := r.declare(s)
		if r.want(second, http.StatusCreated, ""); second.text("state") != "complete" {
			r.Errorf("got %s", second.body)
		}
		if a := r.finalize(second.text("upload_id")); a.text("revision") != first.text("revision") || a.fields["already_existed"] != true {
			r.Errorf("the same bundle: %s", a.body)
		}
		if r.live() != before {
			r.Error("the live revision has changed")
		}
	},
	"U-061": func(r *run) {
		s := site{"a": unique("a"), "b": unique("b")}
		id := r.open(s)
		r.put(id, s["a"])
		r.want(r.finalize(id), http.StatusConflict, "blobs_missing")
		if a := r.status(id); a.text("state") != "open" || len(a.required()) != 1 {
			r.Errorf("got %s", a.body)
		}
	},
	// One upload is finalized fifty times at once.
	"U-063": func(r *run) {
		s := site{"a": unique("a")}
		id := r.open(s)
		r.put(id, s["a"])
		var all sync.Map
		var done sync.WaitGroup
		for range 50 {
			done.Go(func() {
				a := r.finalize(id)
				r.want(a, http.StatusOK, "")
				all.Store(a.text("revision"), true)
			})
		}
		done.Wait()
		n := 0
		all.Range(func(any, any) bool { n++; return true })
		if n != 1 {
			r.Errorf("%d revisions of one upload", n)
		}
	},
	// A revision is read-only.
	"U-066": func(r *run) {
		s := site{"a": unique("a")}
		name := r.upload(s)
		a := r.do(http.MethodGet, toolapi.RevisionPath(name)+"?site_id="+r.Site, r.Key, nil)
		files, _ := a.fields["files"].([]any)
		if r.want(a, http.StatusOK, ""); len(files) != 1 || a.fields["live"] != false {
			r.Errorf("got %s", a.body)
		}
		for _, method := range []string{http.MethodPut, http.MethodDelete, http.MethodPost} {
			if a := r.do(method, toolapi.RevisionPath(name)+"?site_id="+r.Site, r.Key, nil); a.status != http.StatusMethodNotAllowed {
				r.Errorf("%s: %d %s", method, a.status, a.body)
			}
		}
		unknown := r.do(http.MethodGet, toolapi.RevisionPath("r1-000000000000")+"?site_id="+r.Site, r.Key, nil)
		r.want(unknown, http.StatusNotFound, "revision_not_found")
	},
	"U-089": func(r *run) {
		before := r.live()
		theirs := r.asOther().upload(site{"a": unique("a")})
		for _, name := range []string{"r9999-000000000000", theirs, "x"} {
			a := r.post(toolapi.ToolsPath+"page.publish", `{"site_id":"`+r.Site+`","revision":"`+name+`"}`)
			if a.status != http.StatusOK || a.text("code") != "revision_unknown" {
				r.Errorf("%s: %d %s", name, a.status, a.body)
			}
		}
		if r.live() != before {
			r.Error("the live revision has changed")
		}
	},
}

var previewCases = map[string]func(*run){
	"U-100": func(r *run) {
		newest := r.upload(site{"a": unique("a")})
		for _, life := range []string{"", `,"expires_in_seconds":60`, `,"expires_in_seconds":604800`} {
			a := r.post(toolapi.PreviewLinksPath, `{"site_id":"`+r.Site+`"`+life+`}`)
			if r.want(a, http.StatusCreated, ""); a.text("revision") != newest ||
				!strings.Contains(a.text("url"), "/__preview/") || a.text("id") == "" {
				r.Errorf("got %s", a.body)
			}
			if _, err := time.Parse(time.RFC3339, a.text("expires_at")); err != nil {
				r.Error(err)
			}
			link := toolapi.PreviewLinkPath(a.text("id"))
			if theirs := r.do(http.MethodDelete, link, r.OtherKey, nil); theirs.status != http.StatusNotFound {
				r.Errorf("another's DELETE: %d", theirs.status)
			}
			if gone := r.do(http.MethodDelete, link, r.Key, nil); gone.status != http.StatusNoContent {
				r.Errorf("DELETE: %d %s", gone.status, gone.body)
			}
			r.want(r.do(http.MethodDelete, link, r.Key, nil), http.StatusNotFound, "preview_not_found")
		}
	},
	// A key makes too many links.
	"U-109": func(r *run) {
		if r.LimitedKey == "" {
			return
		}
		var a response
		for range 100 {
			a = r.do(http.MethodPost, toolapi.PreviewLinksPath, r.LimitedKey, strings.NewReader("{}"), "Content-Type", "application/json")
			if a.status == http.StatusTooManyRequests {
				break
			}
		}
		wait, _ := a.failure()["retry_after_seconds"].(float64)
		if r.want(a, http.StatusTooManyRequests, "tenant_mcp.rate_limited"); wait < 1 || fmt.Sprint(wait) != a.header.Get("Retry-After") {
			r.Errorf("retry_after_seconds is %v, Retry-After %q", wait, a.header.Get("Retry-After"))
		}
	},
	"U-101": func(r *run) {
		for _, life := range []string{"59", "604801", `"60"`, "-1", "1.5"} {
			a := r.post(toolapi.PreviewLinksPath, `{"site_id":"`+r.Site+`","expires_in_seconds":`+life+`}`)
			r.want(a, http.StatusUnprocessableEntity, "invalid_arguments")
		}
	},
}
