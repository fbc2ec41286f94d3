// Package dictionary divides a text into words or sentences like V8's ICU: by Chromium's variant of UAX #29, and by
// dictionaries for Chinese, Japanese, Thai, Lao, Khmer and Burmese, which have no spaces between words.
//
// The rules and the dictionaries are the files of ICU's data in V8. cmd/tools/artifacts takes them from an npm package
// (package-lock.json) and compresses them; NOTICES at the root of the repository has their licences. A file is decompressed when a
// text first needs it and is then kept for the process: 2.6 MB for all.
//
// In: a well-formed text. Out: its segments in order, and whether a segment is word-like. The time is linear in the length of the
// text, and the memory is bounded. The package is safe for concurrent use; a [Segments] is not. It does not find line breaks, and
// like ICU's, its words do not depend on a locale.
package dictionary

import (
	"archive/zip"
	"embed"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// artifacts holds words.zip. Before cmd/tools/artifacts has built it there is only a README, so that the package compiles.
//
//go:embed artifact
var artifacts embed.FS

var errMissing = errors.New("this binary was built without dictionaries: run make artifacts and build it again")

// archive is words.zip, whose files are compressed by zstd.
var archive = sync.OnceValues(func() (*zip.Reader, error) { //nolint:gochecknoglobals // one archive a process
	file, err := artifacts.Open("artifact/words.zip")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, errMissing
	} else if err != nil {
		return nil, err
	}
	about, err := file.Stat()
	if err != nil {
		return nil, err
	}
	at, ok := file.(io.ReaderAt) // avoids a copy of the archive
	if !ok {
		return nil, errors.New("the archive of the dictionaries cannot be read")
	}
	return zip.NewReader(at, about.Size())
})

// maxFile bounds the size of a file: that of Chinese and Japanese has 2 MB.
const maxFile = 16 << 20

// unpack returns the file of the archive without ICU's header.
func unpack(name string) ([]byte, error) {
	files, err := archive()
	if err != nil {
		return nil, err
	}
	packed, err := fs.ReadFile(files, name)
	if err != nil {
		return nil, fmt.Errorf("the archive of the dictionaries: %w", err)
	}
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxFile))
	if err != nil {
		return nil, err
	}
	defer d.Close()
	file, err := d.DecodeAll(packed, nil)
	if err != nil {
		return nil, fmt.Errorf("%s in the archive of the dictionaries: %w", name, err)
	}
	if len(file) < 2 || len(file) < int(u16(file, 0)) {
		return nil, fmt.Errorf("%s in the archive of the dictionaries has no header", name)
	}
	return file[u16(file, 0):], nil
}

// loaded reads a file once.
func loaded[T any](name string, read func([]byte) (T, error)) func() (T, error) {
	return sync.OnceValues(func() (T, error) {
		file, err := unpack(name)
		if err != nil {
			var none T
			return none, err
		}
		return read(file)
	})
}

func u16(b []byte, at int) uint16 { return uint16(b[at]) | uint16(b[at+1])<<8 }

func u32(b []byte, at int) uint32 { return uint32(u16(b, at)) | uint32(u16(b, at+2))<<16 }
