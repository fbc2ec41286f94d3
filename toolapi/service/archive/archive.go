// Package archive reads the archives that sites are imported from, zip and gzipped tar, without trust.
//
// Input: the bytes of an archive (Read). Output: each regular file, whole, with its name in the archive. A damaged or
// ambiguous archive, or one that would exceed the limits, is refused with a *bundle.FaultError. Nothing is written to a
// file system.
//
// Names must be text; the caller applies other rules for names. Nested archives are plain files. The package keeps no state.
package archive

import (
	"fmt"
	"io"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
)

// Kind is the form of an archive.
type Kind int

// The forms of archives.
const (
	Zip Kind = iota
	TarGzip
)

// Each is called with a file of the archive. The contents are valid until it returns.
type Each func(name string, contents []byte) error

// Read reads an archive of size bytes. The error is a *bundle.FaultError, or one of each or of the reader.
func Read(r io.ReaderAt, size int64, kind Kind, each Each) error {
	m := &meter{}
	if kind == Zip {
		return readZip(r, size, m, each)
	}
	return readTarGzip(r, size, m, each)
}

const (
	maxRatio  = 100     // of the bytes of files to those of the archive
	freeBytes = 1 << 20 // to which any archive may expand
)

// meter counts the entries and bytes that an archive expands to.
type meter struct {
	entries  int
	expanded int64
	names    map[string]bool
}

// entry counts an entry of any type.
func (m *meter) entry(name string) error {
	if m.entries++; m.entries > toolapi.MaxFiles {
		return fault(toolapi.CodeFileCount, "", "The archive has more than %d entries.", toolapi.MaxFiles)
	}
	if m.names == nil {
		m.names = map[string]bool{}
	}
	if m.names[name] {
		return fault(toolapi.CodeArchiveDuplicate, name, "The archive has %s twice.", quote(name))
	}
	m.names[name] = true
	return nil
}

// file counts the announced size of a file.
func (m *meter) file(name string, size int64) error {
	if size > toolapi.MaxFileBytes {
		return fault(toolapi.CodeFileTooLarge, name, "%s has %d bytes; the limit for a file is "+
			"%d.", quote(name), size, toolapi.MaxFileBytes)
	}
	if m.expanded += size; m.expanded > toolapi.MaxExpanded {
		return fault(toolapi.CodeArchiveTooLarge, "", "The archive expands to more than %d bytes.", toolapi.MaxExpanded)
	}
	return nil
}

func exceedsRatio(expanded, packed int64) bool {
	return expanded > freeBytes && expanded/maxRatio > packed
}

func ratioError() error {
	return fault(toolapi.CodeArchiveRatio, "", "The archive expands more than %d times.", maxRatio)
}

func invalid(format string, args ...any) error {
	return fault(toolapi.CodeArchiveInvalid, "", format, args...)
}

func fault(code, name, format string, args ...any) error {
	return &bundle.FaultError{Code: code, Path: name, Message: fmt.Sprintf(format, args...)}
}

// quote quotes a name for a message.
func quote(name string) string {
	const longest = 120
	if len(name) > longest {
		name = name[:longest] + "…"
	}
	return fmt.Sprintf("%+q", name)
}
