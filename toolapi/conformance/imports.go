package conformance

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

const (
	zipType = "application/zip"
	tarType = "application/gzip"
)

// importAs imports an archive.
func (r *run) importAs(kind string, archive []byte, header ...string) response {
	r.Helper()
	header = append(header, "Content-Type", kind)
	a := r.do(http.MethodPost, toolapi.ImportsPath+"?site_id="+r.Site, r.Key, bytes.NewReader(archive), header...)
	if inner := a.failure(); inner != nil && (len(inner) != 2 || len(a.fields) != 2) {
		r.Errorf("Z-016: %s", a.body)
	}
	return a
}

// refuses imports an archive that must be refused with 422 and one of the codes.
func (r *run) refuses(name, kind string, archive []byte, codes ...string) {
	r.Helper()
	started := time.Now() //nolint:forbidigo // of the real service
	a := r.importAs(kind, archive)
	if a.status != http.StatusUnprocessableEntity || !slices.Contains(codes, a.code()) {
		r.Errorf("%s: want 422 %q, got %d %.300s", name, codes, a.status, a.body)
	}
	if took := time.Since(started); took > 10*time.Second {
		r.Errorf("%s: took %v", name, took)
	}
}

const plainManifest = "pages.deploy.json"

// withManifest returns a site with an empty manifest.
func withManifest(more site) site {
	s := site{plainManifest: []byte(`{}`)}
	maps.Copy(s, more)
	return s
}

// importCases are the family Z.
var importCases = map[string]func(*run){
	"Z-001 Z-002": func(r *run) {
		s := withManifest(site{"index.html": unique("a"), "b/c.css": unique("b")})
		first, second := r.importAs(zipType, zipOf(s)), r.importAs(tarType, tarOf(s))
		r.want(first, http.StatusCreated, "")
		r.want(second, http.StatusOK, "")
		if first.text("bundle_digest") != second.text("bundle_digest") || first.text("revision") != second.text("revision") ||
			first.text("state") != "ready" {
			r.Errorf("%s and %s", first.body, second.body)
		}
		r.want(r.importAs(zipType, zipOf(s)), http.StatusOK, "")
	},
	"Z-003": func(r *run) {
		one := unique("a")
		a := r.importAs(zipType, zipOf(site{"site/" + plainManifest: []byte(`{"assets":"public"}`), "site/public/a": one}))
		r.want(a, http.StatusCreated, "")
		read := r.do(http.MethodGet, toolapi.RevisionPath(a.text("revision"))+"?site_id="+r.Site, r.Key, nil)
		if !strings.Contains(string(read.body), `"path":"public/a"`) {
			r.Errorf("the folder was not stripped: %s", read.body)
		}
		r.refuses("two folders", zipType, zipOf(site{"a/" + plainManifest: []byte(`{}`), "b/x": one}), "manifest_invalid")
		r.refuses("no manifest", zipType, zipOf(site{"a": one}), "manifest_invalid")
	},
	"Z-004": func(r *run) {
		for name, code := range map[string]string{
			"../x": "path_traversal", "a/../../x": "path_traversal", "/etc/x": "path_absolute", `C:\x`: "path_backslash",
			`..\x`:    "path_backslash",
			`\\h\s\x`: "path_backslash", "a//b": "path_empty", "./a": "path_traversal", "": "path_empty", "a\x00b": "path_nul",
		} {
			s := withManifest(site{name: unique("x")})
			r.refuses(fmt.Sprintf("zip %q", name), zipType, zipOf(s), code, "archive_mismatch")
			if name != "" && !strings.Contains(name, "\x00") { // which tar cannot hold
				r.refuses(fmt.Sprintf("tar %q", name), tarType, tarOf(s), code)
			}
		}
	},
	"Z-005 Z-006 Z-007": func(r *run) {
		manifest := tar.Header{Name: plainManifest, Typeflag: tar.TypeReg, Size: 2}
		for name, h := range map[string]tar.Header{
			"symbolic link": {Name: "x", Typeflag: tar.TypeSymlink, Linkname: "/etc/passwd"},
			"hard link":     {Name: "x", Typeflag: tar.TypeLink, Linkname: plainManifest},
			"character":     {Name: "x", Typeflag: tar.TypeChar},
			"block":         {Name: "x", Typeflag: tar.TypeBlock},
			"fifo":          {Name: "x", Typeflag: tar.TypeFifo},
		} {
			r.refuses(name, tarType, tarWith(withManifest(nil), manifest, h), "archive_entry_type")
		}
		r.refuses("sparse", tarType, sparseTar(), "archive_entry_type")
		long := "../" + strings.Repeat("x", 200)
		for _, format := range []tar.Format{tar.FormatPAX, tar.FormatGNU} {
			archive := tarWith(withManifest(site{long: nil}), manifest, tar.Header{Name: long, Typeflag: tar.TypeReg, Format: format})
			r.refuses(format.String(), tarType, archive, "path_traversal")
		}
		moded := func(mode uint32) []byte {
			return zipWith(func(w *zip.Writer) {
				add(w, &zip.FileHeader{Name: plainManifest}, "{}")
				add(w, &zip.FileHeader{Name: "x", CreatorVersion: 3 << 8, ExternalAttrs: mode << 16}, string(unique("x")))
			})
		}
		r.refuses("zip link", zipType, moded(0o120777), "archive_entry_type")
		r.refuses("zip link and a file through it", zipType, zipWith(func(w *zip.Writer) {
			add(w, &zip.FileHeader{Name: "x", CreatorVersion: 3 << 8, ExternalAttrs: 0o120777 << 16}, "/etc")
			add(w, &zip.FileHeader{Name: "x/passwd"}, "root")
		}), "archive_entry_type")
		r.want(r.importAs(zipType, moded(0o106777)), http.StatusCreated, "")
	},
	"Z-008": func(r *run) {
		zeros := zipWith(func(w *zip.Writer) {
			add(w, &zip.FileHeader{Name: plainManifest}, "{}")
			f, _ := w.CreateHeader(&zip.FileHeader{Name: "zeros", Method: zip.Deflate})
			block := make([]byte, 1<<20)
			for range 64 {
				_, _ = f.Write(block)
			}
		})
		r.refuses("zeros", zipType, zeros, "archive_ratio")
		// The directory lists the same bytes twice, like Fifield's bomb.
		once := zipOf(withManifest(site{"a": bytes.Repeat([]byte("a"), 1000)}))
		r.refuses("overlap", zipType, repeatLastRecord(once), "archive_overlap")
	},
	"Z-009": func(r *run) {
		good := zipOf(withManifest(site{"z": bytes.Repeat(unique("z"), 2000)}))
		put32 := func(at int, v uint32) func([]byte) {
			return func(record []byte) { binary.LittleEndian.PutUint32(record[at:], v) }
		}
		lies := []string{"archive_mismatch", "archive_overlap", "archive_invalid", "archive_ratio"}
		r.refuses("shorter", zipType, patchRecord(good, put32(24, 1)), lies...)
		r.refuses("longer", zipType, patchRecord(good, put32(24, 20<<20)), lies...)
		r.refuses("packed shorter", zipType, patchRecord(good, put32(20, 5)), lies...)
		r.refuses("packed longer", zipType, patchRecord(good, put32(20, 5000)), lies...)
		r.refuses("zip64", zipType, patchRecord(good, put32(24, 0xffffffff)), append(lies, "file_too_large")...)
		r.refuses("checksum", zipType, patchRecord(good, put32(16, 1)), lies...)
	},
	"Z-010": func(r *run) {
		for _, n := range []int{toolapi.MaxFiles + 1, 1 << 16} {
			s := site{}
			for i := range n {
				s[fmt.Sprint(i)] = nil
			}
			r.refuses(fmt.Sprint(n), zipType, zipOf(s), "file_count_exceeded")
		}
	},
	"Z-011 Z-012": func(r *run) {
		good := zipOf(withManifest(site{"z": unique("z")}))
		end := good[len(good)-22:]
		invalid := []string{"archive_invalid", "archive_mismatch"}
		r.refuses("twice", zipType, zipWith(func(w *zip.Writer) {
			add(w, &zip.FileHeader{Name: "a"}, "1")
			add(w, &zip.FileHeader{Name: "a"}, "2")
		}), "archive_duplicate")
		r.refuses("another local name", zipType, patchRecord(good, func(record []byte) { record[46] = 'y' }), "archive_mismatch")
		r.refuses("encrypted", zipType, patchRecord(good, func(record []byte) { record[8] |= 1 }), "archive_encrypted")
		r.refuses("method", zipType, patchRecord(good, func(record []byte) { record[10] = 14 }), "archive_method")
		r.refuses("prefix", zipType, append([]byte("#!/bin/sh\n"), good...), invalid...)
		r.refuses("trailing", zipType, append(bytes.Clone(good), "junk"...), invalid...)
		r.refuses("cut off", zipType, good[:len(good)-1], invalid...)
		r.refuses("two ends", zipType, append(bytes.Clone(good), end...), invalid...)
		r.refuses("no zip", zipType, unique("this is a text"), invalid...)
		named := func(name string, utf8 bool) []byte {
			return zipWith(func(w *zip.Writer) { add(w, &zip.FileHeader{Name: name, NonUTF8: !utf8}, "x") })
		}
		r.refuses("CP437", zipType, named("caf\x82", false), "path_not_utf8")
		utf8 := named("caf\x82", false)
		utf8[7] |= 8 // the flag for UTF-8, and again in the directory
		utf8[bytes.Index(utf8, []byte("PK\x01\x02"))+9] |= 8
		r.refuses("invalid UTF-8", zipType, utf8, "path_not_utf8")
	},
	"Z-013": func(r *run) {
		a := r.importAs(zipType, zipOf(withManifest(site{"inner.zip": zipOf(withManifest(site{"x": unique("x")}))})))
		r.want(a, http.StatusCreated, "")
	},
	"Z-014": func(r *run) {
		archive := zipOf(withManifest(site{"a": unique("a")}))
		sum := sha256.Sum256(archive)
		right := "sha-256=:" + base64.StdEncoding.EncodeToString(sum[:]) + ":"
		wrong := "sha-256=:" + base64.StdEncoding.EncodeToString(make([]byte, 32)) + ":"
		r.want(r.importAs(zipType, archive, "Repr-Digest", right), http.StatusCreated, "")
		r.want(r.importAs(zipType, archive, "Repr-Digest", wrong), http.StatusUnprocessableEntity, "repr_digest_mismatch")
		r.want(r.importAs(zipType, archive, "Repr-Digest", "md5=:AAAA:"), http.StatusOK, "")
	},
	"Z-015": func(r *run) {
		archive := zipOf(withManifest(site{"a": unique("a")}))
		r.want(r.importAs("text/plain", archive), http.StatusUnsupportedMediaType, "archive_type_unsupported")
		r.want(r.importAs("", archive), http.StatusUnsupportedMediaType, "archive_type_unsupported")
		if a := r.importAs(zipType, nil); a.status != http.StatusUnprocessableEntity {
			r.Errorf("an empty body: %d %s", a.status, a.body)
		}
		a := r.importAs(zipType, make([]byte, toolapi.MaxArchiveBytes+1))
		r.want(a, http.StatusRequestEntityTooLarge, "body_too_large")
		path := toolapi.ImportsPath + "?site_id=" + r.Site + "&workspace=" // a slug has at least one character
		a = r.do(http.MethodPost, path, r.Key, bytes.NewReader(archive), "Content-Type", zipType)
		r.want(a, http.StatusBadRequest, "invalid_arguments")
	},
	"Z-017": func(r *run) {
		archive := zipOf(withManifest(site{"a": unique("a")}))
		before := r.revisions()
		r.cutOff(http.MethodPost, toolapi.ImportsPath+"?site_id="+r.Site, archive, "Content-Type: "+zipType)
		if a := r.importAs(zipType, archive); a.status != http.StatusCreated || r.revisions() != before+1 {
			r.Errorf("%d %s; there were %d revisions and are %d", a.status, a.body, before, r.revisions())
		}
	},
	"Z-018": func(r *run) {
		good := tarOf(withManifest(site{"a": unique("a")}))
		r.refuses("two members", tarType, append(bytes.Clone(good), compressGzip([]byte("x"))...), "archive_invalid")
		r.refuses("trailing", tarType, append(bytes.Clone(good), 0), "archive_invalid")
		r.refuses("cut off", tarType, good[:len(good)-9], "archive_invalid")
		r.refuses("bomb", tarType, tarOf(withManifest(site{"a": make([]byte, 20<<20)})), "archive_ratio")
	},
}

// revisions counts the revisions of the site.
func (r *run) revisions() int {
	r.Helper()
	a := r.post(toolapi.ToolsPath+"page.revisions", `{"site_id":"`+r.Site+`"}`)
	all, _ := a.fields["revisions"].([]any)
	return len(all)
}

// sparseTar makes a tar of a GNU file with holes, which Go does not write.
func sparseTar() []byte {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	_ = w.WriteHeader(&tar.Header{Name: "x", Typeflag: tar.TypeReg, Format: tar.FormatGNU}) // to memory
	_ = w.Close()
	header := out.Bytes()[:512]
	header[156] = tar.TypeGNUSparse
	sum := 0
	for i, b := range header {
		if i >= 148 && i < 156 { // the checksum counts as spaces
			b = ' '
		}
		sum += int(b)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
	return compressGzip(out.Bytes())
}

// zipWith makes a zip file by hand.
func zipWith(write func(*zip.Writer)) []byte {
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	write(w)
	_ = w.Close() // to memory
	return out.Bytes()
}

func add(w *zip.Writer, h *zip.FileHeader, contents string) {
	f, err := w.CreateHeader(h)
	if err != nil {
		panic(err) // to memory
	}
	_, _ = f.Write([]byte(contents))
}

// repeatLastRecord adds the last record of the directory once more, under another name.
func repeatLastRecord(archive []byte) []byte {
	end := len(archive) - 22
	start := int(binary.LittleEndian.Uint32(archive[end+16:]))
	last := bytes.LastIndex(archive[start:end], []byte("PK\x01\x02")) + start
	record := bytes.Clone(archive[last:end])
	record[46] ^= 1 // of the name
	out := append(bytes.Clone(archive[:end]), record...)
	out = append(out, archive[end:]...)
	tail := out[len(out)-22:]
	n := binary.LittleEndian.Uint16(tail[8:]) + 1
	binary.LittleEndian.PutUint16(tail[8:], n)
	binary.LittleEndian.PutUint16(tail[10:], n)
	binary.LittleEndian.PutUint32(tail[12:], uint32(end-start+len(record))) //nolint:gosec // of a small archive
	return out
}

// patchRecord changes the directory's record of the last file.
func patchRecord(archive []byte, change func(record []byte)) []byte {
	out := bytes.Clone(archive)
	change(out[bytes.LastIndex(out, []byte("PK\x01\x02")):])
	return out
}
