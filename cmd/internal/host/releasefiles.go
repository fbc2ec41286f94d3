package host

import (
	"errors"
	"io"
	"io/fs"
	"path"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	pagesruntime "github.com/pages-toolchain/pages/runtime"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// contents are the bytes of a file of a release.
func contents(r service.Release, f sitefile.File) (text []byte, err error) {
	opened, err := r.Files.Open(f.SHA256)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, opened.Close()) }()
	return io.ReadAll(io.LimitReader(opened, f.Size))
}

// configured returns a release whose manifest has the compatibility flags that a JSON runtime config among its files
// declares, as where the site was built.
func configured(r service.Release) (service.Release, error) {
	flags, err := bundle.Flags(r.Bundle.Text, func(name string) ([]byte, error) {
		file, ok := r.Bundle.File(name)
		if !ok {
			return nil, fs.ErrNotExist
		}
		return contents(r, file)
	})
	if refused, ok := errors.AsType[*bundle.FaultError](err); ok { // finalized before the service looked at this
		return r, &service.ReleaseError{Code: toolapi.CodeWorkerFailed, Message: "The Worker could not be started. " + refused.Message}
	}
	if err == nil && len(flags) > 0 {
		b, m := *r.Bundle, *r.Bundle.Manifest
		m.Runtime.CompatibilityFlags, b.Manifest, r.Bundle = flags, &m, &b
	}
	return r, err
}

// readWorker reads the code of a release: its entry as one module, with the WebAssembly
// modules of its folder.
func readWorker(r service.Release, o *pagesruntime.WorkerOptions) (err error) {
	entry, _ := r.Bundle.File(path.Clean(r.Bundle.Manifest.Entry)) // it is there, or the bundle would not be one
	o.Name = path.Base(entry.Path)
	if o.Code, err = contents(r, entry); err != nil {
		return err
	}
	if f, ok := r.Bundle.File(entry.Path + ".map"); ok {
		if o.Map, err = contents(r, f); err != nil {
			return err
		}
	}
	o.Wasm, err = wasmOf(r, path.Dir(entry.Path))
	return err
}

// wasmOf are the WebAssembly modules of a folder, by how a module in it imports them.
func wasmOf(r service.Release, folder string) (map[string][]byte, error) {
	modules := map[string][]byte{}
	for _, f := range r.Bundle.Files {
		if path.Dir(f.Path) != folder || path.Ext(f.Path) != ".wasm" {
			continue
		}
		text, err := contents(r, f)
		if err != nil {
			return nil, err
		}
		modules["./"+path.Base(f.Path)] = text
	}
	return modules, nil
}
