package images

import (
	"encoding/binary"
	"image"
	"slices"
)

// isobmffBoxes are the boxes on the way to an image's properties, with how many
// bytes each has before its own boxes (ISO/IEC 14496-12 and 23008-12).
var isobmffBoxes = []struct {
	kind string
	head int
}{{"meta", 4}, {"iprp", 0}, {"ipco", 0}}

// avifSize is the size of the largest image in an AVIF: the one that its parts
// and thumbnails belong to. It is zero when none is told of.
func avifSize(data []byte) image.Point {
	for _, box := range isobmffBoxes {
		content, _ := nextBox(data, box.kind)
		if len(content) < box.head {
			return image.Point{}
		}
		data = content[box.head:]
	}
	var sizes []image.Point
	for {
		content, rest := nextBox(data, "ispe")
		if content == nil {
			break
		}
		if data = rest; len(content) >= 12 {
			sizes = append(sizes, image.Pt(int(binary.BigEndian.Uint32(content[4:])), int(binary.BigEndian.Uint32(content[8:]))))
		}
	}
	if len(sizes) == 0 {
		return image.Point{}
	}
	return slices.MaxFunc(sizes, func(a, b image.Point) int { return a.X*a.Y - b.X*b.Y })
}

// nextBox is the content of the first box of that kind in data, and what is
// behind it; nil when there is none.
func nextBox(data []byte, kind string) (content, rest []byte) {
	for len(data) >= 8 {
		size, head := uint64(binary.BigEndian.Uint32(data)), uint64(8)
		switch {
		case size == 0: // to the end
			size = uint64(len(data))
		case size == 1 && len(data) >= 16:
			size, head = binary.BigEndian.Uint64(data[8:]), 16
		}
		if size < head || size > uint64(len(data)) {
			return nil, nil
		}
		if string(data[4:8]) == kind {
			return data[head:size], data[size:]
		}
		data = data[size:]
	}
	return nil, nil
}
