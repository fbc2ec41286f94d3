// Package archive reads the archives that sites are imported from, zip and gzipped
// tar, and trusts nothing that they say.
//
// In go the bytes of an archive (Read); each regular file is handed over whole, with
// the name that the archive has for it. An archive that is damaged, that two readers
// could read differently, or that would expand beyond the limits is refused with a
// *bundle.FaultError. Nothing is extracted to a file system.
//
// What names may be is not decided here, except that they must be text. Archives in
// archives are files. The package keeps no state.
package archive

import (
	"fmt"
	"io"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
)

// Kind is the form of an archive.
type Kind int

// The forms.
const (
	Zip Kind = iota
	TarGzip
)

// Each is given a file of the archive. The contents are its own until it returns.
type Each func(name string, contents []byte) error

// Read reads an archive of size bytes. The error is a *bundle.FaultError, or what
// each or the reader returned.
func Read(r io.ReaderAt, size int64, kind Kind, each Each) error {
	m := &meter{}
	if kind == Zip {
		return readZip(r, size, m, each)
	}
	return readTarGzip(r, size, m, each)
}

const (
	// maxRatio is how far an archive may expand, once that is worth counting.
	maxRatio  = 100
	freeBytes = 1 << 20
)

// meter counts what an archive expands to.
type meter struct {
	entries  int
	expanded int64
	names    map[string]bool
}

// entry counts an entry, of whatever type.
func (m *meter) entry(name string) error {
	if m.entries++; m.entries > toolapi.MaxFiles {
		return fault(toolapi.CodeFileCount, "", "The archive has more than %d entries.", toolapi.MaxFiles)
	}
	if m.names == nil {
		m.names = map[string]bool{}
	}
	if m.names[name] {
		return fault(toolapi.CodeArchiveDuplicate, name, "The archive has %s twice.", shown(name))
	}
	m.names[name] = true
	return nil
}

// file counts the announced size of a file.
func (m *meter) file(name string, size int64) error {
	if size > toolapi.MaxFileBytes {
		return fault(toolapi.CodeFileTooLarge, name, "%s has %d bytes; a file may have %d.", shown(name), size, toolapi.MaxFileBytes)
	}
	if m.expanded += size; m.expanded > toolapi.MaxExpanded {
		return fault(toolapi.CodeArchiveTooLarge, "", "The archive expands to more than %d bytes.", toolapi.MaxExpanded)
	}
	return nil
}

// steep reports whether so many bytes are too many for what they were packed in.
func steep(expanded, packed int64) bool {
	return expanded > freeBytes && expanded/maxRatio > packed
}

func ratio() error {
	return fault(toolapi.CodeArchiveRatio, "", "The archive expands more than %d times.", maxRatio)
}

func invalid(format string, args ...any) error {
	return fault(toolapi.CodeArchiveInvalid, "", format, args...)
}

func fault(code, name, format string, args ...any) error {
	return &bundle.FaultError{Code: code, Path: name, Message: fmt.Sprintf(format, args...)}
}

// shown is a name as a message shows it.
func shown(name string) string {
	const longest = 120
	if len(name) > longest {
		name = name[:longest] + "…"
	}
	return fmt.Sprintf("%+q", name)
}
