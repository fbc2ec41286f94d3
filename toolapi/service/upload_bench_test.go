package service_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
)

// declared is the body of a declare with so many files, which no other has.
func declared(site string, files, round int) []byte {
	args := toolapi.DeclareArgs{SiteID: toolapi.UUID(site), Manifest: json.RawMessage(`{"assets":"public"}`)}
	for i := range files {
		sum := sha256.Sum256(fmt.Append(nil, i))
		args.Files = append(args.Files, toolapi.UploadFile{
			Path:   fmt.Sprintf("public/docs/section-%d/page-%d.html", i%100, i),
			SHA256: toolapi.Digest(hex.EncodeToString(sum[:])), Size: 20_000,
		})
	}
	args.Files[0].Size += toolapi.Counter(round)
	args.Files[0].SHA256 = toolapi.Digest(fmt.Sprintf("%064x", round+1))
	body, _ := json.Marshal(args)
	return body
}

// BenchmarkDeclare declares bundles of 10,000 files, each with one that is new.
func BenchmarkDeclare(b *testing.B) {
	w := newFixture(b)
	for round := 0; b.Loop(); round++ {
		a := w.request(http.MethodPost, toolapi.UploadsPath, w.demo.Keys["member"], string(declared(w.demo.IDs["site_id"], 10_000, round)))
		if a.status != http.StatusCreated {
			b.Fatalf("%d %.200s", a.status, a.body)
		}
		w.request(http.MethodDelete, toolapi.UploadPath(a.text("upload_id")), w.demo.Keys["member"], "")
	}
}

// BenchmarkSend sends blobs of 20 kB.
func BenchmarkSend(b *testing.B) {
	w := newFixture(b)
	args := toolapi.DeclareArgs{SiteID: toolapi.UUID(w.demo.IDs["site_id"]), Manifest: json.RawMessage(`{}`)}
	blob := func(i int) []byte { return bytes.Repeat(fmt.Appendf(nil, "%09d\n", i), 2000) }
	sum := func(i int) string {
		s := sha256.Sum256(blob(i))
		return hex.EncodeToString(s[:])
	}
	const most = 5000
	for i := range most {
		args.Files = append(args.Files, toolapi.UploadFile{Path: fmt.Sprint(i), SHA256: toolapi.Digest(sum(i)), Size: 20_000})
	}
	body, _ := json.Marshal(args)
	id := w.request(http.MethodPost, toolapi.UploadsPath, w.demo.Keys["member"], string(body)).text("upload_id")
	b.SetBytes(20_000)
	i := 0
	for b.Loop() {
		if a := w.request(
			http.MethodPut, toolapi.BlobPath(id, sum(i%most)), w.demo.Keys["member"], string(blob(i%most)),
		); a.status >= http.StatusBadRequest {
			b.Fatalf("%d %s", a.status, a.body)
		}
		i++
	}
}
