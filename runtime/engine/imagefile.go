package engine

import (
	"bytes"
	"encoding/gob"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// imageFile is an Image as stored.
type imageFile struct {
	Size     uint32
	At       []uint32
	Bytes    [][]byte
	StackPtr uint32
	RT, JS   uint32
	Scratch  uint32
	Entries  Value
	Names    []string // of the entry points, sorted: a map is stored in any order
	Fns      []Value
}

// MarshalBinary implements encoding.BinaryMarshaler. The result is memory of a virtual machine: store it as safely as
// machine code. Error: the image has regions or a companion's state.
func (im *Image) MarshalBinary() ([]byte, error) {
	if im.companion != nil || len(im.regions)+len(im.spans) > 0 {
		return nil, errors.New("store an image: it has state outside of its memory")
	}
	f := imageFile{
		Size: im.size, StackPtr: im.stackPtr, RT: im.rt, JS: im.js, Scratch: im.scratch,
		Entries: im.entries, Names: slices.Sorted(maps.Keys(im.entryFns)),
	}
	for _, name := range f.Names {
		f.Fns = append(f.Fns, im.entryFns[name])
	}
	for _, r := range im.runs {
		f.At, f.Bytes = append(f.At, r.at), append(f.Bytes, r.b)
	}
	var b bytes.Buffer
	if err := gob.NewEncoder(&b).Encode(f); err != nil {
		return nil, fmt.Errorf("store an image: %w", err)
	}
	return b.Bytes(), nil
}

// UnmarshalBinary implements encoding.BinaryUnmarshaler. The caller ensures that the engine's Fingerprint and the names of
// host functions are those that the image was booted with.
func (im *Image) UnmarshalBinary(data []byte) error {
	var f imageFile
	if err := gob.NewDecoder(bytes.NewReader(data)).Decode(&f); err != nil {
		return fmt.Errorf("read an image: %w", err)
	}
	if len(f.At) != len(f.Bytes) || len(f.Names) != len(f.Fns) {
		return fmt.Errorf("read an image: %d places for %d runs, %d names for %d functions",
			len(f.At), len(f.Bytes), len(f.Names), len(f.Fns))
	}
	*im = Image{
		size: f.Size, stackPtr: f.StackPtr, rt: f.RT, js: f.JS, scratch: f.Scratch,
		entries: f.Entries, entryFns: make(map[string]Value, len(f.Names)),
	}
	for i, name := range f.Names {
		im.entryFns[name] = f.Fns[i]
	}
	for i, at := range f.At {
		if uint64(at)+uint64(len(f.Bytes[i])) > uint64(f.Size) {
			return fmt.Errorf("read an image: a run ends outside its memory")
		}
		im.runs = append(im.runs, run{at, f.Bytes[i]})
	}
	return nil
}
