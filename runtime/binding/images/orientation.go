package images

import (
	"bytes"
	"encoding/binary"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
)

// orientation is the EXIF orientation of a JPEG, 1 to 8; 1 when it has none
// (Exif 2.32, tag 0x0112).
func orientation(data []byte) int {
	for rest := data[min(len(data), 2):]; len(rest) >= 4 && rest[0] == 0xff; {
		marker, size := rest[1], int(binary.BigEndian.Uint16(rest[2:]))
		if marker == 0xda || size < 2 || size+2 > len(rest) {
			break
		}
		if exif, ok := bytes.CutPrefix(rest[4:size+2], []byte("Exif\x00\x00")); ok && marker == 0xe1 {
			return tiffOrientation(exif)
		}
		rest = rest[size+2:]
	}
	return 1
}

// tiffOrientation reads the tag from the first directory of a TIFF header.
func tiffOrientation(tiff []byte) int {
	if len(tiff) < 8 {
		return 1
	}
	var order binary.ByteOrder = binary.LittleEndian
	if string(tiff[:2]) == "MM" {
		order = binary.BigEndian
	}
	at := int64(order.Uint32(tiff[4:]))
	if at+2 > int64(len(tiff)) {
		return 1
	}
	entries := tiff[at+2:]
	for range order.Uint16(tiff[at:]) {
		if len(entries) < 12 {
			break
		}
		if order.Uint16(entries) == 0x0112 {
			if value := int(order.Uint16(entries[8:])); value >= 1 && value <= 8 {
				return value
			}
			break
		}
		entries = entries[12:]
	}
	return 1
}

// turns undo an EXIF orientation.
var turns = [9]raster.Turn{
	2: {FlipX: true},
	3: {FlipX: true, FlipY: true},
	4: {FlipY: true},
	5: {Swap: true},
	6: clockwise,
	7: {Swap: true, FlipX: true, FlipY: true},
	8: {Swap: true, FlipY: true},
}

// clockwise is a quarter of a turn.
var clockwise = raster.Turn{Swap: true, FlipX: true}
