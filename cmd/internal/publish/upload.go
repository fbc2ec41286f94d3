package publish

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/rehearsal"
	"github.com/pages-toolchain/pages/cmd/internal/toolcall"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// upload is a built site, ready to send: the static files and migrations at their paths in the site's folder, the built Worker as one
// module with its WebAssembly beside it, and a manifest that names this module and no empty folder. It assumes that the service bundles
// nothing (toolapi/service/assumptions.go).
type upload struct {
	deploy.Bundle

	builder *bundler.Builder
	root    *os.Root // its files are read through it, so that no link leads out
	opener  *bundler.Opener
}

const javaScript = "text/javascript; charset=utf-8"

func (s *upload) close() {
	if s.opener != nil {
		s.opener.Close()
	}
	if s.root != nil {
		_ = s.root.Close() // it was only read
	}
	s.builder.Close()
}

// build builds the site. During the upload, the builder writes the hashes of its files for the next deploy.
func (o DeployOptions) build(ctx context.Context) (*upload, error) {
	b, err := o.NewBuilder(ctx)
	if err != nil {
		return nil, err
	}
	site := &upload{builder: b}
	if err := o.buildInto(ctx, site); err != nil {
		site.close()
		return nil, err
	}
	return site, nil
}

func (o DeployOptions) buildInto(ctx context.Context, site *upload) error {
	t, dir, m := o.Remote.Term, o.Remote.Dir, o.Manifest
	bundle, diags := site.builder.BuildListed(ctx, m, o.Public)
	if bundle != nil {
		diags = append(diags, rehearsal.Run(ctx, dir, m)...)
	}
	if err := ctx.Err(); err != nil {
		return err // the files are not at fault if it could not read them
	}
	if bundle == nil || diags.HasErrors() {
		return failure.Refuse(userfile.WorkDir(t.Dir), dir, diags)
	}
	if len(diags) > 0 && !t.Quiet && !t.JSON {
		t.PrintDiagnostics(diagnostic.NewReport(t.Shown(filepath.Join(dir, manifest.FileName)), diags), nil)
	}
	folder, err := filepath.EvalSymlinks(dir) // in the bundler's form
	if err != nil {
		return err
	}
	if site.root, err = os.OpenRoot(folder); err != nil {
		return failure.Resource("site-unreadable", "the site's folder cannot be read", "", err)
	}
	return site.fill(folder, m, bundle, o.SourceMaps)
}

// fill lists the files of a built site.
func (s *upload) fill(folder string, m *manifest.Manifest, b *bundler.Bundle, maps bool) error {
	assets := path.Clean(m.Assets) // "." for the whole folder
	if assets == "." {
		assets = ""
	}
	s.opener = b.Opener(s.root, m.AssetsFolder())
	s.Files = make([]deploy.File, 0, len(b.Assets)+len(b.Migrations))
	inside := strings.TrimSuffix(folder, string(filepath.Separator)) + string(filepath.Separator)
	for _, a := range b.Assets {
		name, ok := strings.CutPrefix(a.File, inside)
		if !ok {
			var err error
			if name, err = filepath.Rel(folder, a.File); err != nil {
				return err
			}
		}
		s.Files = append(s.Files, deploy.File{
			File: sitefile.File{Path: strings.TrimPrefix(assets+a.Path, "/"), Size: a.Size, SHA256: a.SHA256, ContentType: a.ContentType},
			Open: func() (io.ReadCloser, error) { return s.opener.Open(filepath.ToSlash(name)) },
		})
	}
	for _, left := range b.LeftOut {
		folder := m.AssetsFolder() // the manifest, the Worker and migrations in it are sent in any case
		if left.Path != manifest.FileName && left.Path != folder.Entry &&
			(folder.Migrations == "" || left.Path != folder.Migrations+"/") {
			s.LeftOut = append(s.LeftOut, left)
		}
	}
	for _, sql := range b.Migrations {
		s.add(path.Join(m.Bindings.Database.Migrations, sql.Name), "application/sql", sql.SQL)
	}
	var err error
	if s.Manifest, err = withoutEmptyFolders(b.Manifest, m, b); err != nil {
		return err
	}
	if w := b.Worker; w != nil {
		at := s.workerFolder()
		s.add(path.Join(at, w.Name), javaScript, w.Code)
		for _, module := range w.Modules {
			contentType := "application/wasm"
			if module.Kind == bundler.KindScript {
				contentType = javaScript
			}
			s.add(path.Join(at, module.Specifier), contentType, module.Bytes)
		}
		if maps && len(w.Map) > 0 {
			s.add(path.Join(at, w.Name+".map"), "application/json", w.Map)
		}
		if s.Manifest, err = toolcall.SetField(s.Manifest, "entry", path.Join(at, w.Name)); err != nil {
			return err
		}
	}
	slices.SortFunc(s.Files, func(a, b deploy.File) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

// withoutEmptyFolders returns the manifest without its empty folders: the service refuses them, since it knows folders only by their files.
func withoutEmptyFolders(text json.RawMessage, m *manifest.Manifest, b *bundler.Bundle) (json.RawMessage, error) {
	noAssets := m.Assets != "" && len(b.Assets) == 0
	noMigrations := m.Bindings.Database != nil && m.Bindings.Database.Migrations != "" && len(b.Migrations) == 0
	if !noAssets && !noMigrations {
		return text, nil
	}
	var fields map[string]any
	if err := json.Unmarshal(text, &fields); err != nil {
		return nil, err
	}
	if noAssets {
		delete(fields, "assets")
	}
	if bindings, ok := fields["bindings"].(map[string]any); ok && noMigrations {
		if database, ok := bindings["database"].(map[string]any); ok {
			delete(database, "migrations")
		}
	}
	return json.Marshal(fields)
}

// workerFolder returns a folder for the built Worker that contains no other file.
func (s *upload) workerFolder() string {
	for n := 1; ; n++ {
		at := "_worker"
		if n > 1 {
			at += strconv.Itoa(n)
		}
		if !slices.ContainsFunc(s.Files, func(f deploy.File) bool {
			folder, _, _ := strings.Cut(f.Path, "/")
			return strings.EqualFold(folder, at)
		}) {
			return at
		}
	}
}

// add adds a file from memory.
func (s *upload) add(name, contentType string, text []byte) {
	sum := sha256.Sum256(text)
	s.Files = append(s.Files, deploy.File{
		File: sitefile.File{Path: name, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:]), ContentType: contentType},
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
	})
}
