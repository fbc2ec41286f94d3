package site_test

import (
	"context"
	"database/sql"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// A form post becomes a lead with its events before the response.
func Example() {
	dir, err := os.MkdirTemp("", "site")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "platform.db")+"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	ctx := context.Background()
	front, err := site.New(ctx, site.Options{DB: db})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer front.Close()
	front.Swap(site.Revision{Manifest: &manifest.Manifest{
		Routes: []manifest.Route{{Pattern: "/minutes/*", Access: manifest.Members}},
		Forms:  []manifest.Form{{Name: "membership", Event: "custom.membership_requested"}},
	}})

	r := httptest.NewRequest("POST", "http://localhost/__pages/forms/membership", strings.NewReader("name=Kim&_next=/thanks"))
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	w := httptest.NewRecorder()
	front.ServeHTTP(w, r)
	fmt.Println(w.Code, w.Header().Get("Location"))

	w = httptest.NewRecorder()
	front.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "http://localhost/minutes/2026-01.html", nil))
	fmt.Println(w.Code)

	leads, err := front.Store().Leads(ctx, site.LeadFilter{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, lead := range leads {
		fmt.Println(lead.Form, lead.Fields.Text("name"), lead.Events)
	}
	// Output:
	// 303 /thanks
	// 401
	// membership Kim [pages.lead.captured custom.membership_requested]
}

// A routing answers without a server, and gives the reasons.
func ExampleRouting_Explain() {
	routing := site.NewRouting(site.Revision{
		Manifest: &manifest.Manifest{Routes: []manifest.Route{{Pattern: "/minutes/*", Access: manifest.Members}}},
		Assets:   []sitefile.Asset{{Path: "/minutes/2026-01.html", File: "public/minutes/2026-01.html"}},
	})
	e := routing.Explain(http.MethodGet, "/minutes/2026-01", site.VisitorMember)
	fmt.Println(e.Pattern, e.Access, e.Gate, e.Answer, e.File, e.Status)
	fmt.Println(e.Why[0])
	fmt.Println(routing.Explain(http.MethodPost, "/minutes/2026-01", site.VisitorSignedOut).Status)
	// Output:
	// /minutes/* members passed asset public/minutes/2026-01.html 200
	// the route "/minutes/*" covers the path
	// 401
}
