package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/localsecrets"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/secretscan"
)

// checker checks manifests as the flags of `pages validate` say.
type checker struct {
	*cli
	alone  bool // the files that a manifest names are not looked at
	record bool // fill in looked
}

// check validates every site named, or the one found by walking up. What an
// argument does not lead to is part of its report: the others are checked all
// the same.
func (c *cli) check(ctx context.Context, args []string, alone bool) ([]checked, error) {
	return checker{cli: c, alone: alone}.all(ctx, args)
}

func (k checker) all(ctx context.Context, args []string) ([]checked, error) {
	if len(args) == 0 {
		dir, err := k.find(nil)
		if err != nil {
			return nil, err
		}
		return []checked{k.file(ctx, filepath.Join(dir, manifest.FileName))}, nil
	}
	results := make([]checked, len(args))
	failed := make([]error, len(args))
	var workers sync.WaitGroup
	var next atomic.Int64
	for range min(runtime.GOMAXPROCS(0), len(args)) {
		workers.Go(func() {
			for i := int(next.Add(1)) - 1; i < len(args); i = int(next.Add(1)) - 1 {
				results[i], failed[i] = k.named(ctx, args[i])
			}
		})
	}
	workers.Wait()
	return results, errors.Join(failed...)
}

// stream checks a manifest that has no folder: stdin, or what a shell makes of
// <(command). Whoever writes it may take long, or never begin: a signal ends
// the wait.
func (k checker) stream(ctx context.Context, name string, open func() (io.Reader, error)) (checked, error) {
	type text struct {
		src []byte
		err error
	}
	done := make(chan text, 1)
	go func() {
		r, err := open()
		if err != nil {
			done <- text{err: err}
			return
		}
		src, err := io.ReadAll(io.LimitReader(r, userfile.MaxSource))
		done <- text{src, err}
	}()
	select {
	case <-ctx.Done():
		return checked{}, context.Cause(ctx)
	case t := <-done:
		if t.err != nil {
			return checked{}, fmt.Errorf("read %s: %w", name, t.err)
		}
		return k.parse(name, t.src), nil
	}
}

func (k checker) parse(name string, src []byte) checked {
	_, diags := manifest.Parse(name, src)
	return checked{report: manifest.NewReport(name, diags), diags: diags, src: src}
}

// named checks what an argument names: stdin, the site in a folder, or a manifest
// whatever it is called.
func (k checker) named(ctx context.Context, arg string) (checked, error) {
	if arg == "-" {
		return k.stream(ctx, "stdin", func() (io.Reader, error) { return k.term.Stdin, nil })
	}
	path := k.term.Path(arg)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		path = filepath.Join(path, manifest.FileName)
	case err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeCharDevice) != 0:
		return k.stream(ctx, arg, func() (io.Reader, error) { return os.Open(path) })
	}
	return k.file(ctx, path), nil
}

// file checks one manifest.
func (k checker) file(ctx context.Context, path string) checked {
	if k.alone {
		src, err := userfile.ReadSource(path)
		if err == nil {
			r := k.parse(k.term.Shown(path), src)
			r.looked = []string{path}
			return r
		}
	}
	fsys := os.DirFS(filepath.Dir(path))
	var seen *recorder
	if k.record {
		seen = newRecorder(fsys)
		fsys = seen
	}
	m, r := k.loadFrom(fsys, path, manifest.LoadToUpload)
	if seen != nil {
		r.looked = seen.paths(filepath.Dir(path))
	}
	if m != nil {
		k.published(ctx, path, m, &r)
	}
	return r
}

// published builds a site that has secrets, to find those that it would publish. What else is wrong with the build is
// for the build to tell.
func (k checker) published(ctx context.Context, path string, m *manifest.Manifest, r *checked) {
	dir := filepath.Dir(path)
	if len(m.Bindings.Secrets) > 0 {
		r.looked = append(r.looked, localsecrets.Paths(dir)...)
	}
	secrets, err := k.localSecrets(dir).ScanSet(ctx, m)
	var found manifest.Diagnostics
	switch {
	case err != nil:
		found = manifest.Diagnostics{secretsFault(err)}
		manifest.Locate(r.src, found)
	case secrets != nil:
		b := bundler.New(dir, bundler.Options{Provided: provided(), Now: k.term.Now, Secrets: func() *secretscan.Set { return secrets }})
		defer b.Close()
		_, found = b.Build(ctx, m)
		r.looked = append(r.looked, b.Inputs()...)
		found = slices.DeleteFunc(found, func(d manifest.Diagnostic) bool { return !strings.HasPrefix(d.Code, "secret-") })
	}
	if len(found) > 0 {
		r.diags = append(r.diags, found...)
		r.report = manifest.NewReport(k.term.Shown(path), r.diags)
	}
}

// secretsFault is a file of secrets that cannot be read.
func secretsFault(err error) manifest.Diagnostic {
	p := secretsProblem(err)
	return manifest.Diagnostic{Severity: manifest.Error, Code: "secrets-file", Path: "/bindings/secrets", Message: p.Message, Fix: p.Fix}
}
