// Package bundle holds the rules of uploads: valid paths, maximal sizes, the files that a manifest
// needs, and the digest of a bundle.
//
// Input: a manifest's text and a list of files (New). Output: a Bundle in its canonical form, or a
// *FaultError with its code of the upload protocol. The service applies these rules; a client can
// apply them before it sends.
//
// The package opens no file and no connection. Its values never change, and are safe for concurrent
// use.
package bundle

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"mime"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/migrationfiles"
	"github.com/pages-toolchain/pages/manifest/publicfiles"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/manifest/validate"
	"github.com/pages-toolchain/pages/toolapi"
)

// ManifestFile is the name of the manifest in an archive. It is not among the files of a bundle.
const ManifestFile = manifest.FileName

// FaultError is the reason why a bundle cannot be uploaded.
type FaultError struct {
	Code    string // one of toolapi's or of this package's, such as "path_traversal"
	Path    string // the file to blame, "" for none
	Message string
}

func (f *FaultError) Error() string { return f.Code + ": " + f.Message }

// Bundle is a manifest and its files, checked.
type Bundle struct {
	Manifest *manifest.Manifest // with defaults applied
	Text     []byte             // the original manifest in the canonical form of RFC 8785
	Files    []sitefile.File    // sorted bytewise by path
	Digest   string             // 64 lower-case hexadecimal digits over Text and Files
}

// New checks a bundle. Files without a content type get the default for their name. The bundle
// takes over the slice. The error is a *FaultError.
func New(text []byte, files []sitefile.File) (*Bundle, error) {
	parsed, diagnostics := manifest.Parse(manifest.FileName, text)
	if parsed == nil {
		return nil, manifestFault(diagnostics)
	}
	canonical := jsontext.Value(slices.Clone(text))
	if err := canonical.Canonicalize(); err != nil {
		return nil, &FaultError{toolapi.CodeManifestInvalid, manifest.FileName, "The manifest is not unambiguous JSON."}
	}
	b := &Bundle{Manifest: parsed, Text: canonical, Files: files}
	if err := b.checkSizes(); err != nil {
		return nil, err
	}
	if err := b.checkTypes(); err != nil {
		return nil, err
	}
	if err := b.checkPaths(); err != nil {
		return nil, err
	}
	byPath := func(a, b sitefile.File) int { return cmp.Compare(a.Path, b.Path) }
	if !slices.IsSortedFunc(files, byPath) {
		slices.SortFunc(files, byPath)
	}
	sizes := make(map[string]int64, len(files))
	for _, f := range files {
		if size, ok := sizes[f.SHA256]; ok && size != f.Size {
			return nil, fault(toolapi.CodeSizeMismatch, f.Path, "%s has the hash of a file with a different size.", quote(f.Path))
		}
		sizes[f.SHA256] = f.Size
	}
	if err := b.checkManifestFiles(); err != nil {
		return nil, err
	}
	b.Digest = b.digest()
	return b, nil
}

// Bytes is the size of all files together.
func (b *Bundle) Bytes() (total int64) {
	for _, f := range b.Files {
		total += f.Size
	}
	return total
}

// manifestFault returns the first fault of a manifest, and counts the others.
func manifestFault(diagnostics diagnostic.List) error {
	f := &FaultError{toolapi.CodeManifestInvalid, manifest.FileName, "The manifest is invalid."}
	n := 0
	for _, d := range diagnostics {
		if d.Severity != diagnostic.Error {
			continue
		}
		if n++; n == 1 {
			f.Message = "The manifest is invalid: " + d.Message
			if d.File != "" {
				f.Path, f.Message = d.File, d.File+" is invalid: "+d.Message
			}
			if d.Path != "" {
				f.Message += ", at " + d.Path
			}
			if d.Fix != "" {
				f.Message += "; " + d.Fix
			}
			if !strings.HasSuffix(f.Message, "?") {
				f.Message += "."
			}
		}
	}
	switch {
	case n == 2:
		f.Message += " It has one more problem."
	case n > 2:
		f.Message += fmt.Sprintf(" It has %d more problems.", n-1)
	}
	return f
}

func (b *Bundle) checkSizes() error {
	if len(b.Files) > toolapi.MaxFiles {
		return fault(toolapi.CodeFileCount, "", "The bundle has %d files; the limit is %d.", len(b.Files), toolapi.MaxFiles)
	}
	for _, f := range b.Files {
		if f.Size > toolapi.MaxFileBytes {
			return fault(toolapi.CodeFileTooLarge, f.Path,
				"%s has %d bytes; the limit for a file is %d.", quote(f.Path), f.Size, toolapi.MaxFileBytes)
		}
	}
	if n := b.Bytes(); n > toolapi.MaxBundleBytes {
		return fault(toolapi.CodeBundleTooLarge, "", "The bundle has %d bytes; the limit is %d.", n, toolapi.MaxBundleBytes)
	}
	return nil
}

func fault(code, path, format string, args ...any) error {
	return &FaultError{code, path, fmt.Sprintf(format, args...)}
}

// checkTypes checks content types. Files without one get the default for their name.
func (b *Bundle) checkTypes() error {
	passed := map[string]bool{} // there are few
	for i := range b.Files {
		f := &b.Files[i]
		if f.ContentType == "" {
			f.ContentType = publicfiles.ContentType(f.Path)
		}
		if passed[f.ContentType] {
			continue
		}
		if _, _, err := mime.ParseMediaType(f.ContentType); err != nil {
			return fault(toolapi.CodeInvalidArguments, f.Path, "The content type of %s is invalid.", quote(f.Path))
		}
		passed[f.ContentType] = true
	}
	return nil
}

// checkManifestFiles refuses a bundle without the files that the manifest names.
func (b *Bundle) checkManifestFiles() error {
	lacks := func(field, message string) error {
		return fault(toolapi.CodeManifestInvalid, manifest.FileName, "The manifest is invalid: %s, at %s.", message, field)
	}
	m := b.Manifest
	if m.Entry != "" {
		entry, ok := b.File(path.Clean(m.Entry))
		switch {
		case !ok:
			return lacks("/entry", fmt.Sprintf("the file %s is not in the bundle", quote(m.Entry)))
		case entry.Size > toolapi.MaxWorkerBytes:
			return fault(toolapi.CodeFileTooLarge, entry.Path,
				"The Worker has %d bytes; the limit is %d.", entry.Size, toolapi.MaxWorkerBytes)
		}
	}
	dir := path.Clean(m.Assets)
	inAssets := func(f sitefile.File) bool { return strings.HasPrefix(f.Path, dir+"/") }
	if m.Assets != "" && dir != "." && !slices.ContainsFunc(b.Files, inAssets) {
		return lacks("/assets", fmt.Sprintf("no file of the bundle is under %s", quote(m.Assets)))
	}
	if d := m.Bindings.Database; d != nil && d.Migrations != "" && len(b.Migrations()) == 0 {
		return lacks("/bindings/database/migrations", fmt.Sprintf("the bundle has no .sql file directly in %s", quote(d.Migrations)))
	}
	return nil
}

// File finds a file by its path.
func (b *Bundle) File(name string) (sitefile.File, bool) {
	i, ok := slices.BinarySearchFunc(b.Files, name, func(f sitefile.File, name string) int { return cmp.Compare(f.Path, name) })
	if !ok {
		return sitefile.File{}, false
	}
	return b.Files[i], true
}

// Migrations returns the scripts of the site's database, in the order in which they run.
func (b *Bundle) Migrations() (all []sitefile.File) {
	for _, f := range b.Files {
		if b.Manifest.IsMigration(f.Path) {
			all = append(all, f)
		}
	}
	return all
}

// Assets returns the files that are served: all, for a site with neither entry nor assets.
// Dot files may be uploaded, and are never served.
func (b *Bundle) Assets() (all []sitefile.Asset) {
	for _, f := range b.Files {
		if url, ok := b.Manifest.ServedPath(f.Path); ok && !publicfiles.HiddenPath(url) {
			all = append(all, sitefile.Asset{Path: "/" + url, Size: f.Size, SHA256: f.SHA256, ContentType: f.ContentType})
		}
	}
	return all
}

// digest is the SHA-256 of the RFC 8785 form of {"files": …, "manifest": …}. It is
// written piece by piece: all of it at once may have several megabytes.
func (b *Bundle) digest() string {
	sum := sha256.New()
	piece := []byte(`{"files":[`)
	for i, f := range b.Files {
		if i > 0 {
			piece = append(piece, ',')
		}
		piece = appendText(append(piece, `{"content_type":`...), f.ContentType)
		piece = appendText(append(piece, `,"path":`...), f.Path)
		piece = appendText(append(piece, `,"sha256":`...), f.SHA256)
		piece = strconv.AppendInt(append(piece, `,"size":`...), f.Size, 10)
		_, _ = sum.Write(append(piece, '}')) // never fails
		piece = piece[:0]
	}
	piece = append(append(append(piece, `],"manifest":`...), b.Text...), '}')
	_, _ = sum.Write(piece)
	return hex.EncodeToString(sum.Sum(nil))
}

// appendText appends a string of RFC 8785, in which most paths and types are as they are.
func appendText(to []byte, s string) []byte {
	plain := true
	for i := 0; i < len(s) && plain; i++ {
		plain = s[i] >= ' ' && s[i] <= '~' && s[i] != '"' && s[i] != '\\'
	}
	if plain {
		return append(append(append(to, '"'), s...), '"')
	}
	quoted, err := jsontext.AppendQuote(to, s)
	if err != nil { // only for text that is not UTF-8, which the checks of paths exclude
		return strconv.AppendQuote(to, s)
	}
	return quoted
}

func quote(s string) string {
	const longest = 120
	if len(s) > longest {
		s = s[:longest] + "…"
	}
	return strconv.QuoteToGraphic(s)
}

// Flags returns the compatibility flags that a JSON runtime config among the files of an upload declares; none when the
// manifest's flags count. read returns the text of a file by its path, or fs.ErrNotExist. The error is a *FaultError, or
// one of read's.
func Flags(text []byte, read func(path string) ([]byte, error)) ([]string, error) {
	for _, name := range manifest.RuntimeConfigs() {
		config, err := read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		flags, diagnostics := validate.RuntimeFlags(text, name, config)
		if diagnostics.HasErrors() {
			return nil, manifestFault(diagnostics)
		}
		return flags, nil
	}
	return nil, nil
}

// CheckMigrations applies the rules of every other command to the texts of an upload's migrations. read returns the text
// of a file by its path. The error is a *FaultError, or one of read's.
func CheckMigrations(text []byte, files iter.Seq[string], read func(path string) ([]byte, error)) error {
	m, err := manifest.Accepted(text)
	if err != nil {
		return err
	}
	for file := range files {
		if !m.IsMigration(file) {
			continue
		}
		text, err := read(file)
		if err != nil {
			return fmt.Errorf("read %s: %w", file, err)
		}
		if found, bad := migrationfiles.CheckText(file, text); bad {
			return migrationFault(found)
		}
	}
	return nil
}
