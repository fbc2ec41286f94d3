package main

import (
	"encoding/binary"
	"slices"
	"testing"
)

// TestICUFile reads data as ICU lays it out, whole and cut off anywhere.
func TestICUFile(t *testing.T) {
	data := binary.LittleEndian.AppendUint16(nil, 16) // the size of the header
	data = append(data, 0xda, 0x27, 0, 0, 0, 0, 0, 0, 0, 0, 'C', 'm', 'n', 'D')
	for _, n := range []uint32{2, 20, 32, 26, 36} {
		data = binary.LittleEndian.AppendUint32(data, n)
	}
	data = append(data, "v1/a\x00\x00v1/b\x00\x00AAAABB"...)
	for _, c := range []struct{ name, want string }{{"a", "AAAA"}, {"b", "BB"}, {"c", ""}, {"v1/a", ""}} {
		file, err := icuFile(data, c.name)
		if string(file) != c.want || (err == nil) != (c.want != "") {
			t.Errorf("%s is %q, %v; want %q", c.name, file, err, c.want)
		}
	}
	for n := range data {
		cut := slices.Clip(data[:n])
		if file, err := icuFile(cut, "b"); err == nil && string(file) != "B" {
			t.Errorf("of the first %d bytes b is %q", n, file)
		}
	}
	if _, err := icuFile([]byte("no data of ICU at all"), "a"); err == nil {
		t.Error("other data was taken")
	}
}
