package service

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"html"
	"time"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
)

// demoManifest is that of the demo's pages: plain files, and a corner for members.
const demoManifest = `{"assets":"public","routes":[{"pattern":"/members/*","access":"members"}]}`

// demoFiles are the files of the n-th revision of a page.
func demoFiles(name string, n int) map[string][]byte {
	page := func(title, text string) []byte {
		return fmt.Appendf(
			nil,
			"<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>%s</title>\n<link rel=\"stylesheet\" "+
				"href=\"/site.css\">\n<h1>%s</h1>\n<p>%s</p>\n</html>\n",
			html.EscapeString(title), html.EscapeString(title), text,
		)
	}
	return map[string][]byte{
		"public/index.html":         page(name, fmt.Sprintf(`This is revision %d. <a href="/members/">For members</a>`, n)),
		"public/members/index.html": page("For members of "+name, "Only who is signed in sees this."),
		"public/site.css":           []byte("body { font: 1.1rem/1.5 system-ui; max-width: 40rem; margin: 3rem auto; padding: 0 1rem }\n"),
	}
}

// revision plants a revision with its files, and returns its name.
func (g *seeder) revision(workspace int, site, page string, n int) string {
	if g.err != nil {
		return ""
	}
	space := g.files.Space(int64(workspace))
	var files []sitefile.File
	for path, text := range demoFiles(page, n) {
		sum := sha256.Sum256(text)
		f := sitefile.File{Path: path, SHA256: hex.EncodeToString(sum[:]), Size: int64(len(text))}
		if _, g.err = space.Put(f.SHA256, f.Size, bytes.NewReader(text)); g.err != nil {
			return ""
		}
		files = append(files, f)
	}
	var b *bundle.Bundle
	if b, g.err = bundle.New([]byte(demoManifest), files); g.err != nil {
		return ""
	}
	if g.err = space.Sync(uniqueHashes(b.Files)); g.err != nil {
		return ""
	}
	var p packed
	if p, g.err = pack(b); g.err != nil {
		return ""
	}
	var id int64
	if id, g.err = g.storeBundle(int64(workspace), p); g.err != nil {
		return ""
	}
	made := toolapi.Finalized{}
	g.err = g.ensureRevision(site, id, time.UnixMilli(g.at(0, n)), &made)
	return made.Revision
}
