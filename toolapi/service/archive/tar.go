package archive

import (
	"archive/tar"
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
)

// readTarGzip reads a tar in one gzip member.
func readTarGzip(r io.ReaderAt, size int64, m *meter, each Each) error {
	packed := bufio.NewReader(io.NewSectionReader(r, 0, size))
	member, err := gzip.NewReader(packed)
	if err != nil {
		return invalid("The archive is not a gzip file.")
	}
	member.Multistream(false)
	plain := &tarStream{r: member, packed: size}
	if err := readTar(plain, m, each); err != nil {
		return err
	}
	block := make([]byte, 32<<10)
	for err == nil {
		var n int
		n, err = plain.Read(block)
		if len(bytes.Trim(block[:n], "\x00")) > 0 {
			return invalid("The archive's tar has data after its end.")
		}
	}
	if !errors.Is(err, io.EOF) {
		return err
	}
	if _, err := packed.ReadByte(); !errors.Is(err, io.EOF) {
		return invalid("The archive has data after its end.")
	}
	return nil
}

// tarStream is the gzip stream of a tar. It fails when the archive expands too far.
type tarStream struct {
	r        io.Reader
	n        int64
	packed   int64
	zeros    int64 // read last
	exceeded error
}

// Read implements io.Reader.
func (t *tarStream) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.n += int64(n)
	if tail := int64(len(bytes.TrimRight(p[:n], "\x00"))); tail > 0 {
		t.zeros = int64(n) - tail
	} else {
		t.zeros += int64(n)
	}
	// Beside the files there are headers: at most two blocks a file, and those of pax.
	const headers = 64 << 20
	switch {
	case exceedsRatio(t.n, t.packed):
		t.exceeded = ratioError()
	case t.n > toolapi.MaxExpanded+headers:
		t.exceeded = fault(toolapi.CodeArchiveTooLarge, "", "The archive expands to more than %d bytes.", toolapi.MaxExpanded)
	}
	if t.exceeded != nil {
		return 0, t.exceeded
	}
	if err != nil && !errors.Is(err, io.EOF) {
		err = invalid("The archive's gzip stream is damaged.")
	}
	return n, err
}

func readTar(plain *tarStream, m *meter, each Each) error {
	r := tar.NewReader(plain)
	var contents bytes.Buffer
	for {
		plain.zeros = 0
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			// The reader does not need the end mark of a tar, which is longer than the zeros after a file's last block. But
			// without this check, the output of a tar that failed halfway would publish half a site.
			const block = 512
			if plain.zeros < block {
				return invalid("The archive's tar was cut off before its end.")
			}
			return nil
		}
		if err != nil {
			return tarError(err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader { // of all entries; `git archive` writes one
			for record := range h.PAXRecords {
				// Other readers apply these names and sizes to all entries.
				if record == "path" || record == "linkpath" || record == "size" || strings.HasPrefix(record, "GNU.") {
					return invalid("The archive's tar sets one %s for all its entries.", quote(record))
				}
			}
			continue
		}
		contents.Reset()
		if err := readTarEntry(r, h, m, &contents, each); err != nil {
			return err
		}
	}
}

func readTarEntry(r io.Reader, h *tar.Header, m *meter, contents *bytes.Buffer, each Each) error {
	if err := m.entry(strings.TrimSuffix(h.Name, "/")); err != nil {
		return err
	}
	if h.Typeflag == tar.TypeDir {
		return nil
	}
	regular := h.Typeflag == tar.TypeReg && h.Linkname == ""
	for record := range h.PAXRecords {
		regular = regular && !strings.HasPrefix(record, "GNU.sparse.")
	}
	if !regular {
		return fault(toolapi.CodeArchiveEntryType, h.Name, "%s is neither a regular file nor a folder.", quote(h.Name))
	}
	if err := m.file(h.Name, h.Size); err != nil {
		return err
	}
	if _, err := io.Copy(contents, r); err != nil {
		return tarError(err)
	}
	if int64(contents.Len()) != h.Size {
		return fault(toolapi.CodeArchiveMismatch, h.Name, "%s differs in length from the archive's listing.", quote(h.Name))
	}
	return each(h.Name, contents.Bytes())
}

func tarError(err error) error {
	if known, ok := errors.AsType[*bundle.FaultError](err); ok {
		return known
	}
	return invalid("The archive's tar is damaged.")
}
