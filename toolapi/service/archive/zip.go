package archive

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/flate"
	"encoding/binary"
	"hash/crc32"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
)

// This file reads zip files (APPNOTE 6.3.10), the part of the format that tools write for sites: entries that are stored or
// deflated, one after another from the first byte on, then the central directory, then its end. Redundant fields must
// agree, and every byte must belong to exactly one record.

// record is an entry of the central directory.
type record struct {
	name         string
	flags        uint16
	method       uint16
	crc          uint32
	packed, size int64
	offset       int64
	mode         uint32 // of Unix; 0 when it was made elsewhere
}

const (
	localSignature      = 0x04034b50
	centralSignature    = 0x02014b50
	endSignature        = 0x06054b50
	descriptorSignature = 0x08074b50
	locator64Signature  = 0x07064b50

	localLength     = 30
	centralLength   = 46
	endLength       = 22
	locator64Length = 20

	flagEncrypted  = 1<<0 | 1<<6 | 1<<13
	flagDescriptor = 1 << 3
	flagUTF8       = 1 << 11

	stored   = 0
	deflated = 8
)

type littleEndian []byte

func (b littleEndian) u16(at int) uint16 { return binary.LittleEndian.Uint16(b[at:]) }
func (b littleEndian) u32(at int) uint32 { return binary.LittleEndian.Uint32(b[at:]) }
func (b littleEndian) i64(at int) int64  { return int64(b.u32(at)) }

func readPart(r io.ReaderAt, size, from, n int64) (littleEndian, error) {
	if from < 0 || n < 0 || from > size-n {
		return nil, invalid("The archive ends too early.")
	}
	b := make([]byte, n)
	_, err := io.ReadFull(io.NewSectionReader(r, from, n), b)
	return b, err
}

func readZip(r io.ReaderAt, size int64, m *meter, each Each) error {
	directory, start, count, err := findDirectory(r, size)
	if err != nil {
		return err
	}
	records, err := readDirectory(directory, m)
	if err != nil {
		return err
	}
	if len(records) != count {
		return invalid("The archive's number of entries differs from the number at its end.")
	}
	for _, e := range records { // before anything is expanded
		if err := e.check(); err != nil {
			return err
		}
		if !e.isFolder() {
			if err := m.file(e.name, e.size); err != nil {
				return err
			}
		}
	}
	slices.SortStableFunc(records, func(a, b record) int { return cmp.Compare(a.offset, b.offset) })
	at := int64(0)
	for i, e := range records {
		switch {
		case e.offset < at:
			return fault(toolapi.CodeArchiveOverlap, e.name, "%s shares bytes with another entry.", quote(e.name))
		case e.offset > at:
			return invalid("The archive has bytes that belong to no entry.")
		}
		next := start
		if i+1 < len(records) {
			next = records[i+1].offset
		}
		if at, err = readEntry(r, e, next, each); err != nil {
			return err
		}
	}
	if at != start {
		return invalid("The archive has bytes that belong to no entry.")
	}
	return nil
}

// findDirectory reads the central directory, and returns its start and the number of entries that the end record has.
func findDirectory(r io.ReaderAt, size int64) (directory littleEndian, start int64, count int, err error) {
	tail, err := readPart(r, size, max(0, size-endLength-math.MaxUint16), min(size, endLength+math.MaxUint16))
	if err != nil {
		return nil, 0, 0, err
	}
	at := -1
	for i := len(tail) - endLength; i >= 0; i-- {
		if tail.u32(i) != endSignature || i+endLength+int(tail.u16(i+20)) != len(tail) {
			continue
		}
		if at >= 0 {
			return nil, 0, 0, invalid("The archive has two end records.")
		}
		at = i
	}
	if at < 0 {
		return nil, 0, 0, invalid("The archive is not a zip file, is cut off, or has data after its end.")
	}
	end := tail[at:]
	limit := size - int64(len(end))
	if limit >= locator64Length {
		locator, err := readPart(r, size, limit-locator64Length, locator64Length)
		if err != nil {
			return nil, 0, 0, err
		}
		if locator.u32(0) == locator64Signature {
			// Only archives over the limits need this form; the refusal names the number of entries if they are too many.
			offset := int64(binary.LittleEndian.Uint64(locator[8:]) & math.MaxInt64) //nolint:gosec // masked
			end, err := readPart(r, size, offset, 56)
			if err == nil && binary.LittleEndian.Uint64(end[32:]) > toolapi.MaxFiles {
				return nil, 0, 0, fault(toolapi.CodeFileCount, "", "The archive has more than %d entries.", toolapi.MaxFiles)
			}
			return nil, 0, 0, invalid("The archive is in the zip64 format, which is not supported.")
		}
	}
	if end.u16(4) != 0 || end.u16(6) != 0 || end.u16(8) != end.u16(10) {
		return nil, 0, 0, invalid("The archive is split into several parts.")
	}
	length, start := end.i64(12), end.i64(16)
	if start+length != limit {
		return nil, 0, 0, invalid("The archive's directory is not at the position in its end record.")
	}
	directory, err = readPart(r, size, start, length)
	return directory, start, int(end.u16(10)), err
}

// readDirectory splits the central directory into its records.
func readDirectory(d littleEndian, m *meter) (records []record, err error) {
	for len(d) > 0 {
		if len(d) < centralLength || d.u32(0) != centralSignature {
			return nil, invalid("The archive's directory is damaged.")
		}
		nameEnd := centralLength + int(d.u16(28))
		extraEnd := nameEnd + int(d.u16(30))
		end := extraEnd + int(d.u16(32))
		if end > len(d) {
			return nil, invalid("The archive's directory is damaged.")
		}
		e := record{
			name: string(d[centralLength:nameEnd]), flags: d.u16(8), method: d.u16(10), crc: d.u32(16),
			packed: d.i64(20), size: d.i64(24), offset: d.i64(42),
		}
		if madeBy := d[5]; madeBy == 3 || madeBy == 19 { // Unix, macOS
			e.mode = d.u32(38) >> 16
		}
		if err := e.widen(d[nameEnd:extraEnd]); err != nil {
			return nil, err
		}
		if err := m.entry(strings.TrimSuffix(e.name, "/")); err != nil {
			return nil, err
		}
		records, d = append(records, e), d[end:]
	}
	return records, nil
}

// widen takes sizes that do not fit from the zip64 field, so that they can be checked.
func (e *record) widen(extra littleEndian) error {
	const wide, tag = math.MaxUint32, 1
	values := []*int64{&e.size, &e.packed, &e.offset}
	for len(extra) >= 4 {
		n := int(extra.u16(2))
		if 4+n > len(extra) {
			return invalid("The archive's directory is damaged.")
		}
		if extra.u16(0) == tag {
			field := extra[4 : 4+n]
			for _, v := range values {
				if *v != wide {
					continue
				}
				if len(field) < 8 {
					return invalid("The archive's directory is damaged.")
				}
				*v = int64(binary.LittleEndian.Uint64(field) & math.MaxInt64) //nolint:gosec // masked
				field = field[8:]
			}
			return nil
		}
		extra = extra[4+n:]
	}
	return nil
}

func (e record) isFolder() bool { return strings.HasSuffix(e.name, "/") }

func (e record) check() error {
	const typeMask, regular, folder = 0o170000, 0o100000, 0o040000
	kind := e.mode & typeMask
	switch {
	case e.flags&flagEncrypted != 0:
		return fault(toolapi.CodeArchiveEncrypted, e.name, "%s is encrypted.", quote(e.name))
	case e.method != stored && e.method != deflated:
		return fault(toolapi.CodeArchiveMethod, e.name, "%s uses an unsupported compression: use deflate.", quote(e.name))
	case e.flags&flagUTF8 == 0 && strings.ContainsFunc(e.name, func(r rune) bool { return r >= 0x80 }):
		return fault(bundle.CodeNotUTF8, e.name, "The name %s is not marked as UTF-8.", quote(e.name))
	case kind != 0 && kind != regular && kind != folder, kind == folder != e.isFolder() && kind != 0:
		return fault(toolapi.CodeArchiveEntryType, e.name, "%s is neither a regular file nor a folder.", quote(e.name))
	case e.isFolder() && e.size != 0:
		return fault(toolapi.CodeArchiveEntryType, e.name, "%s is a folder with contents.", quote(e.name))
	case exceedsRatio(e.size, e.packed):
		return ratioError()
	case e.method == stored && e.size != e.packed:
		return e.mismatch()
	}
	return nil
}

func (e record) mismatch() error {
	return fault(toolapi.CodeArchiveMismatch, e.name, "The archive contradicts itself about %s.", quote(e.name))
}

// readEntry reads an entry, whose bytes must end at next or before, and returns their end.
func readEntry(r io.ReaderAt, e record, next int64, each Each) (end int64, err error) {
	head, err := readPart(r, next, e.offset, localLength)
	if err != nil {
		return 0, fault(toolapi.CodeArchiveOverlap, e.name, "%s shares bytes with another entry.", quote(e.name))
	}
	nameLength, extraLength := int64(head.u16(26)), int64(head.u16(28))
	name, err := readPart(r, next, e.offset+localLength, nameLength)
	if err != nil || head.u32(0) != localSignature || string(name) != e.name || head.u16(6) != e.flags || head.u16(8) != e.method {
		return 0, e.mismatch()
	}
	data := e.offset + localLength + nameLength + extraLength
	end = data + e.packed
	if end > next {
		return 0, fault(toolapi.CodeArchiveOverlap, e.name, "%s shares bytes with another entry.", quote(e.name))
	}
	if e.flags&flagDescriptor == 0 {
		// Sizes may be in the local zip64 field instead; the sizes of the directory apply.
		agree := func(a, b int64) bool { return a == b || a == math.MaxUint32 }
		if head.u32(14) != e.crc || !agree(head.i64(18), e.packed) || !agree(head.i64(22), e.size) {
			return 0, e.mismatch()
		}
	} else if end, err = e.descriptor(r, end, next); err != nil {
		return 0, err
	}
	contents, err := e.expand(io.NewSectionReader(r, data, e.packed))
	if err != nil {
		return 0, err
	}
	if e.isFolder() {
		return end, nil
	}
	return end, each(e.name, contents)
}

// descriptor reads the record after the bytes of an entry that was written as a stream: with or without a signature, with
// sizes of four or eight bytes.
func (e record) descriptor(r io.ReaderAt, at, next int64) (end int64, err error) {
	n := next - at
	if n != 12 && n != 16 && n != 20 && n != 24 {
		return 0, e.mismatch()
	}
	d, err := readPart(r, next, at, n)
	if err != nil {
		return 0, err
	}
	if n == 16 || n == 24 {
		if d.u32(0) != descriptorSignature {
			return 0, e.mismatch()
		}
		d = d[4:]
	}
	packed, size := d.i64(4), int64(0)
	if len(d) == 12 {
		size = d.i64(8)
	} else {
		packed = int64(binary.LittleEndian.Uint64(d[4:]) & math.MaxInt64) //nolint:gosec // masked
		size = int64(binary.LittleEndian.Uint64(d[12:]) & math.MaxInt64)  //nolint:gosec // masked
	}
	if d.u32(0) != e.crc || packed != e.packed || size != e.size {
		return 0, e.mismatch()
	}
	return next, nil
}

// expand returns the contents of an entry, checked.
func (e record) expand(packed *io.SectionReader) ([]byte, error) {
	source := bufio.NewReader(packed)
	var plain io.Reader = source
	if e.method == deflated {
		plain = flate.NewReader(source) // reads no byte beyond the end
	}
	var contents bytes.Buffer
	n, err := io.Copy(&contents, io.LimitReader(plain, e.size+1))
	switch {
	case err != nil:
		return nil, invalid("The bytes of %s are damaged.", quote(e.name))
	case n != e.size, crc32.ChecksumIEEE(contents.Bytes()) != e.crc:
		return nil, e.mismatch()
	}
	if _, err := source.ReadByte(); err == nil {
		return nil, e.mismatch()
	}
	return contents.Bytes(), nil
}
