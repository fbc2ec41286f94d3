package failure

import (
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// Refuse returns the error of files of the site in dir that were refused, with files as a user in the working directory names them.
func Refuse(work userfile.WorkDir, dir string, diags diagnostic.List) error {
	path := filepath.Join(dir, manifest.FileName)
	src, _ := userfile.ReadSource(path)
	if !diagnostic.Locate(src, diags) {
		src = nil // no diagnostic is about the manifest
	}
	return &RefusedError{Report: diagnostic.NewReport(work.Rel(path), diags), Source: src}
}
