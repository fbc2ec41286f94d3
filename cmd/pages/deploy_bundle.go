package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// This file makes of a built site what is uploaded: the static files and migrations
// where they are in the site's folder, the built Worker as one module with its
// WebAssembly beside it, and a manifest that names that module, and no folder with nothing
// in it. That the service bundles nothing is an assumption (toolapi/service/assumptions.go).
//
// Each deploy hashes every file: times on a disk lie. For that a deploy of one changed file
// among 10,000 takes a twelfth of the first one.

// builtSite is a site that is ready to be sent.
type builtSite struct {
	deploy.Bundle

	root   *os.Root // that its files are read through, so that no link leads out
	opener *bundler.Opener
}

func (s *builtSite) close() {
	if s.opener != nil {
		s.opener.Close()
	}
	_ = s.root.Close() // it was only read
}

// buildSite builds the site in dir.
func (c *cli) buildSite(ctx context.Context, dir string, m *manifest.Manifest, o bundler.Options, maps bool) (*builtSite, error) {
	b, err := c.newBundler(ctx, dir, m, o)
	if err != nil {
		return nil, err
	}
	defer b.Close()
	bundle, diags := b.Build(ctx, m)
	if err := ctx.Err(); err != nil {
		return nil, err // what it could not read any more is no fault of the files
	}
	if bundle == nil || diags.HasErrors() {
		return nil, c.refuse(dir, diags)
	}
	if len(diags) > 0 && !c.term.Quiet && !c.term.JSON {
		c.term.PrintDiagnostics(c.report(dir, diags), nil)
	}
	folder, err := filepath.EvalSymlinks(dir) // as the bundler names files
	if err != nil {
		return nil, err
	}
	site := &builtSite{}
	if site.root, err = os.OpenRoot(folder); err != nil {
		return nil, failure.Resource("site-unreadable", "the site's folder cannot be read", "", err)
	}
	if err := site.fill(folder, m, bundle, maps); err != nil {
		site.close()
		return nil, err
	}
	return site, nil
}

// fill lists what is sent.
func (s *builtSite) fill(folder string, m *manifest.Manifest, b *bundler.Bundle, maps bool) error {
	assets := path.Clean(m.Assets) // "." for the whole folder
	s.opener = b.Opener(s.root, m.AssetsFolder())
	for _, a := range b.Assets {
		name, err := filepath.Rel(folder, a.File)
		if err != nil {
			return err
		}
		s.Files = append(s.Files, deploy.File{
			Path: path.Join(assets, a.Path), Size: a.Size, SHA256: a.SHA256, ContentType: a.ContentType,
			Open: func() (io.ReadCloser, error) { return s.opener.Open(filepath.ToSlash(name)) },
		})
	}
	for _, left := range b.LeftOut {
		if !sentOtherwise(m, left.File) {
			s.LeftOut = append(s.LeftOut, deploy.LeftOut{Path: left.File, Reason: left.Why})
		}
	}
	for _, sql := range b.Migrations {
		s.add(path.Join(m.Bindings.Database.Migrations, sql.Name), "application/sql", sql.SQL)
	}
	var err error
	if s.Manifest, err = withoutEmpty(b.Manifest, m, b); err != nil {
		return err
	}
	if w := b.Worker; w != nil {
		at := s.room()
		s.add(path.Join(at, w.Name), "text/javascript; charset=utf-8", w.Code)
		for _, module := range w.Modules {
			s.add(path.Join(at, path.Base(module.Specifier)), "application/wasm", module.Bytes)
		}
		if maps {
			s.add(path.Join(at, w.Name+".map"), "application/json", w.Map)
		}
		if s.Manifest, err = setField(s.Manifest, "entry", path.Join(at, w.Name)); err != nil {
			return err
		}
	}
	slices.SortFunc(s.Files, func(a, b deploy.File) int { return cmp.Compare(a.Path, b.Path) })
	return nil
}

// sentOtherwise reports whether a file of the assets folder that is no asset is part of
// the site all the same: the manifest, the migrations and the Worker.
func sentOtherwise(m *manifest.Manifest, file string) bool {
	a := m.AssetsFolder()
	return file == manifest.FileName || file == a.Entry || a.Migrations != "" && file == a.Migrations+"/"
}

// withoutEmpty is the manifest without the folders that nothing is in yet: to the
// service a folder is what the files in it make of it, and it refuses others.
func withoutEmpty(text json.RawMessage, m *manifest.Manifest, b *bundler.Bundle) (json.RawMessage, error) {
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

// workerFolder is where the built Worker goes.
const workerFolder = "_worker"

// room is a folder for the built Worker that no other file is in.
func (s *builtSite) room() string {
	for n := 1; ; n++ {
		at := workerFolder
		if n > 1 {
			at = fmt.Sprintf("%s%d", workerFolder, n)
		}
		if !slices.ContainsFunc(s.Files, func(f deploy.File) bool {
			first, _, _ := strings.Cut(f.Path, "/")
			return strings.EqualFold(first, at)
		}) {
			return at
		}
	}
}

// add lists a file that is held in memory.
func (s *builtSite) add(name, contentType string, text []byte) {
	sum := sha256.Sum256(text)
	s.Files = append(s.Files, deploy.File{
		Path: name, Size: int64(len(text)), SHA256: hex.EncodeToString(sum[:]), ContentType: contentType,
		Open: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil },
	})
}
