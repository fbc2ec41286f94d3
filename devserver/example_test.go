package devserver_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"

	"github.com/pages-toolchain/pages/devserver"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest"
)

func ExampleFormatRequest() {
	fmt.Println(devserver.FormatRequest(site.RequestRecord{
		Method: "GET", Path: "/api/outings", Status: 200, Millis: 3, Source: site.FromWorker,
		Meter: &site.Meter{CPUMs: 2, CPULimitMs: 10000, SubRequestsMax: 20},
	}, false))
	// Output: GET /api/outings 200 3 ms · cpu 2/10000 ms · sub 0/20 · worker
}

func ExampleWriteProblemPage() {
	w := httptest.NewRecorder()
	devserver.WriteProblemPage(w, httptest.NewRequest("GET", "/outings/7", nil), devserver.Problem{
		Title: "The Worker threw an error", Message: "row is null",
		File: "src/worker.js", Line: 12, Column: 8, EndColumn: 11,
		Snippet: []devserver.SnippetLine{{Number: 12, Text: "return row.id;", Hit: true}},
		Fix:     "check that the row exists",
	})
	fmt.Println(w.Code)
	fmt.Print(w.Body)
	// Output:
	// 500
	// The Worker threw an error
	//
	// src/worker.js:12:8: row is null
	//
	// >   12 | return row.id;
	//        |        ^^^
	//
	// fix: check that the row exists
}

func ExampleDescribe() {
	info := devserver.Describe(&manifest.Manifest{
		Entry:  "src/worker.js",
		Assets: "public",
		Routes: []manifest.Route{{Pattern: "/api/*"}, {Pattern: "/club/*", Access: manifest.Members}},
		Bindings: manifest.Bindings{
			Database: &manifest.Database{Tables: []string{"outings"}}, KV: &manifest.KV{Name: "KV"}, Secrets: []string{"MAIL_KEY"},
		},
		Limits: manifest.Limits{CPUMs: 10000, SubRequests: 20},
	})
	out := json.NewEncoder(os.Stdout)
	for _, part := range []any{info.Routes, info.Bindings, info.Limits} {
		if err := out.Encode(part); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// [{"pattern":"/api/*","access":"public","target":"worker"},{"pattern":"/club/*","access":"members","target":"worker"}]
	// [{"name":"DB","kind":"database","detail":"tables outings"},{"name":"KV","kind":"key-value"},{"name":"ASSETS","kind":"assets","detail":"public"},{"name":"MAIL_KEY","kind":"secret"}]
	// [{"name":"CPU time","value":"10000 ms a request"},{"name":"Subrequests","value":"20 a request"}]
}
