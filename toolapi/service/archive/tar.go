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
		return invalid("The archive is no gzip file.")
	}
	member.Multistream(false)
	plain := &throttled{r: member, packed: size}
	if err := readTar(plain, m, each); err != nil {
		return err
	}
	if err := onlyZeros(plain); err != nil {
		return err
	}
	if _, err := packed.ReadByte(); !errors.Is(err, io.EOF) {
		return invalid("The archive goes on behind its end.")
	}
	return nil
}

// throttled ends when more comes out than the archive can be trusted with. Any error
// of the gzip stream is one of the archive's.
type throttled struct {
	r        io.Reader
	n        int64
	packed   int64
	zeros    int64 // that were read last
	exceeded error
}

// Read implements io.Reader.
func (t *throttled) Read(p []byte) (int, error) {
	n, err := t.r.Read(p)
	t.n += int64(n)
	if tail := int64(len(bytes.TrimRight(p[:n], "\x00"))); tail > 0 {
		t.zeros = int64(n) - tail
	} else {
		t.zeros += int64(n)
	}
	// Beside the files there are the headers of tar: at most two blocks a file, and
	// what pax says of them.
	const headers = 64 << 20
	switch {
	case steep(t.n, t.packed):
		t.exceeded = ratio()
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

func readTar(plain *throttled, m *meter, each Each) error {
	r := tar.NewReader(plain)
	var contents bytes.Buffer
	for {
		plain.zeros = 0
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return ended(plain.zeros)
		}
		if err != nil {
			return tarError(err)
		}
		if h.Typeflag == tar.TypeXGlobalHeader { // says something of all entries; `git archive` writes one
			if err := checkGlobal(h.PAXRecords); err != nil {
				return err
			}
			continue
		}
		contents.Reset()
		if err := tarEntry(r, h, m, &contents, each); err != nil {
			return err
		}
	}
}

// ended looks for the mark at the end of a tar, which its reader can do without: who packed what a
// failed tar had written so far would publish half a site. Zeros behind a file's last block are
// fewer than those of the mark.
func ended(zeros int64) error {
	const block = 512
	if zeros < block {
		return invalid("The archive's tar was cut off before its end.")
	}
	return nil
}

// checkGlobal refuses what would name or measure all entries, and what other readers take
// for that.
func checkGlobal(records map[string]string) error {
	for record := range records {
		if record == "path" || record == "linkpath" || record == "size" || strings.HasPrefix(record, "GNU.") {
			return invalid("The archive's tar gives all its entries one %s.", shown(record))
		}
	}
	return nil
}

func tarEntry(r io.Reader, h *tar.Header, m *meter, contents *bytes.Buffer, each Each) error {
	if err := errors.Join(m.entry(strings.TrimSuffix(h.Name, "/")), tarType(h)); err != nil || h.Typeflag == tar.TypeDir {
		return err
	}
	if err := m.file(h.Name, h.Size); err != nil {
		return err
	}
	if _, err := io.Copy(contents, r); err != nil {
		return tarError(err)
	}
	if int64(contents.Len()) != h.Size {
		return fault(toolapi.CodeArchiveMismatch, h.Name, "%s is not as long as the archive says.", shown(h.Name))
	}
	return each(h.Name, contents.Bytes())
}

// tarType lets regular files and folders pass.
func tarType(h *tar.Header) error {
	regular := h.Typeflag == tar.TypeReg && h.Linkname == ""
	for record := range h.PAXRecords {
		regular = regular && !strings.HasPrefix(record, "GNU.sparse.")
	}
	if regular || h.Typeflag == tar.TypeDir {
		return nil
	}
	return fault(toolapi.CodeArchiveEntryType, h.Name, "%s is no plain file and no folder.", shown(h.Name))
}

func tarError(err error) error {
	if known, ok := errors.AsType[*bundle.FaultError](err); ok {
		return known
	}
	return invalid("The archive's tar is damaged.")
}

// onlyZeros reads what follows the end of a tar.
func onlyZeros(r io.Reader) error {
	block := make([]byte, 32<<10)
	for {
		n, err := r.Read(block)
		if len(bytes.Trim(block[:n], "\x00")) > 0 {
			return invalid("The archive's tar goes on behind its end.")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}
