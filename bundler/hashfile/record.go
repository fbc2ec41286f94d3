package hashfile

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"sort"
)

// This file stores the hashes as one table of bytes: their number in 8 bytes, a record of fixed length for each, sorted by
// name, and after the records the names, one after the other. Numbers are big-endian.
//
//	where the name begins, where it ends   8 bytes each, counted from the first name
//	size, modified, changed, inode, device 8 bytes each
//	SHA-256                                32 bytes

const (
	countLength  = 8
	recordLength = 7*8 + sha256.Size
)

// table is a table whose records name bytes in it.
type table struct {
	records, names []byte
}

func tableSize(entries []Entry) int {
	n := countLength + len(entries)*recordLength
	for _, e := range entries {
		n += len(e.Name)
	}
	return n
}

// appendTable sorts entries, and appends their table.
func appendTable(to []byte, entries []Entry) []byte {
	byName := func(a, b Entry) int { return cmp.Compare(a.Name, b.Name) }
	if !slices.IsSortedFunc(entries, byName) {
		slices.SortFunc(entries, byName)
	}
	put := func(n uint64) { to = binary.BigEndian.AppendUint64(to, n) }
	put(uint64(len(entries)))
	at := 0
	for _, e := range entries {
		put(uint64(at)) //nolint:gosec // a length is not negative
		at += len(e.Name)
		put(uint64(at)) //nolint:gosec // nor is this
		for _, n := range [...]int64{e.Stamp.Size, e.Stamp.Modified, e.Stamp.Changed} {
			put(uint64(n)) //nolint:gosec // read back as it was
		}
		put(e.Stamp.Inode)
		put(e.Stamp.Device)
		to = append(to, e.SHA256[:]...)
	}
	for _, e := range entries {
		to = append(to, e.Name...)
	}
	return to
}

// parseTable refuses a table with inconsistent records.
func parseTable(text []byte) (t table, err error) {
	if len(text) < countLength {
		return t, errDamaged
	}
	n := binary.BigEndian.Uint64(text)
	text = text[countLength:]
	if n > uint64(len(text)/recordLength) {
		return t, errDamaged
	}
	records := int(n) * recordLength //nolint:gosec // no more than the text is long
	t = table{text[:records], text[records:]}
	end := uint64(0)
	for r := t.records; len(r) > 0; r = r[recordLength:] {
		from := binary.BigEndian.Uint64(r)
		if from != end {
			return table{}, errDamaged
		}
		if end = binary.BigEndian.Uint64(r[8:]); end < from || end > uint64(len(t.names)) {
			return table{}, errDamaged
		}
	}
	return t, nil
}

func (t table) len() int { return len(t.records) / recordLength }

func (t table) record(i int) []byte { return t.records[i*recordLength:][:recordLength] }

func (t table) name(i int) []byte {
	r := t.record(i)
	return t.names[binary.BigEndian.Uint64(r):binary.BigEndian.Uint64(r[8:])]
}

// find returns the record of a name. It tries the given position first.
func (t table) find(name string, first int) (at int, ok bool) {
	if first < t.len() && string(t.name(first)) == name {
		return first, true
	}
	at = sort.Search(t.len(), func(i int) bool { return string(t.name(i)) >= name })
	return at, at < t.len() && string(t.name(at)) == name
}

func (t table) at(i int) (s Stamp, sum [sha256.Size]byte) {
	r := t.record(i)[2*8:]
	number := func(i int) uint64 { return binary.BigEndian.Uint64(r[i*8:]) }
	//nolint:gosec // as they were written
	s = Stamp{int64(number(0)), int64(number(1)), int64(number(2)), number(3), number(4)}
	return s, [sha256.Size]byte(r[5*8:])
}
