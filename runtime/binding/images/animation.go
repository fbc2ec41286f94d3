package images

import (
	"encoding/binary"
	"image"
)

// animated reports whether an image has more than one frame, of which only the
// first can be worked on.
func animated(format string, data []byte) bool {
	switch format {
	case formatGIF:
		_, frames := gifFrames(data)
		return frames > 1
	case formatWebP:
		// An extended header whose animation bit is set (WebP container
		// specification, "VP8X").
		return len(data) > 20 && string(data[12:16]) == "VP8X" && data[20]&0x02 != 0
	}
	return false
}

// gifFrames counts the images of a GIF up to two, going from block to block (GIF89a,
// sections 18 to 27), and tells the size of the first.
func gifFrames(data []byte) (first image.Point, frames int) {
	if len(data) < 13 {
		return image.Point{}, 0
	}
	rest := skip(data, 13+colorTable(data[10]))
	for {
		if len(rest) == 0 {
			return first, frames
		}
		switch rest[0] {
		case 0x21: // an extension: its label, then sub-blocks
			rest = skipBlocks(skip(rest, 2))
		case 0x2c: // an image: descriptor, color table, code size, sub-blocks
			if frames++; frames > 1 || len(rest) < 10 {
				return first, frames
			}
			first = image.Pt(int(binary.LittleEndian.Uint16(rest[5:])), int(binary.LittleEndian.Uint16(rest[7:])))
			rest = skipBlocks(skip(rest, 11+colorTable(rest[9])))
		default:
			return first, frames
		}
	}
}

// colorTable is the size of the table that a packed field tells of.
func colorTable(packed byte) int {
	if packed&0x80 == 0 {
		return 0
	}
	return 3 << (packed&7 + 1)
}

func skip(data []byte, n int) []byte { return data[min(n, len(data)):] }

// skipBlocks goes past sub-blocks and the empty one that ends them.
func skipBlocks(data []byte) []byte {
	for len(data) > 0 && data[0] != 0 {
		data = skip(data, 1+int(data[0]))
	}
	return skip(data, 1)
}
