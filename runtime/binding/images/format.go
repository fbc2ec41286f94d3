package images

import (
	"bytes"
	"encoding/binary"
	"image"
	"slices"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
)

const (
	formatJPEG = "image/jpeg"
	formatPNG  = "image/png"
	formatGIF  = "image/gif"
	formatWebP = "image/webp"
	formatAVIF = "image/avif"
	formatHEIC = "image/heic"
	formatSVG  = "image/svg+xml"
)

// sniff is the media type of an image by its first bytes, "" when it is none.
func sniff(data []byte) string {
	switch {
	case bytes.HasPrefix(data, []byte("\xff\xd8\xff")):
		return formatJPEG
	case bytes.HasPrefix(data, []byte("\x89PNG\r\n\x1a\n")):
		return formatPNG
	case bytes.HasPrefix(data, []byte("GIF87a")), bytes.HasPrefix(data, []byte("GIF89a")):
		return formatGIF
	case len(data) >= 12 && string(data[:4]) == "RIFF" && string(data[8:12]) == "WEBP":
		return formatWebP
	case len(data) >= 12 && string(data[4:8]) == "ftyp":
		switch string(data[8:12]) {
		case "avif", "avis":
			return formatAVIF
		case "heic", "heix", "mif1", "msf1":
			return formatHEIC
		}
	default: // the root element within the first kilobyte
		head := bytes.TrimLeft(bytes.TrimPrefix(data[:min(len(data), 1024)], []byte("\xef\xbb\xbf")), " \t\r\n")
		if bytes.HasPrefix(head, []byte("<")) && bytes.Contains(head, []byte("<svg")) {
			return formatSVG
		}
	}
	return ""
}

// isAnimated reports whether an image has more than one frame. Only the first is transformed.
func isAnimated(format string, data []byte) bool {
	switch format {
	case formatGIF:
		_, frames := gifFrames(data)
		return frames > 1
	case formatWebP:
		// An extended header whose animation bit is set (WebP container specification, "VP8X").
		return len(data) > 20 && string(data[12:16]) == "VP8X" && data[20]&0x02 != 0
	}
	return false
}

// gifFrames counts the images of a GIF up to two, block by block (GIF89a, sections 18 to 27), and reads the size of the first.
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

// colorTable is the size of the table that a packed field declares.
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

// isobmffBoxes are the boxes on the way to an image's properties; head is the bytes before a box's own boxes (ISO/IEC 14496-12
// and 23008-12).
var isobmffBoxes = []struct {
	kind string
	head int
}{{"meta", 4}, {"iprp", 0}, {"ipco", 0}}

// avifSize is the size of the largest image in an AVIF, to which its parts and thumbnails belong; zero for none.
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

// nextBox returns the content of the first box of that kind in data, and the data after it; nil when there is none.
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

// orientation is the EXIF orientation of a JPEG, 1 to 8; 1 when it has none (Exif 2.32, tag 0x0112).
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

var turns = [9]raster.Turn{
	2: {FlipX: true},
	3: {FlipX: true, FlipY: true},
	4: {FlipY: true},
	5: {Swap: true},
	6: clockwise,
	7: {Swap: true, FlipX: true, FlipY: true},
	8: {Swap: true, FlipY: true},
}

var clockwise = raster.Turn{Swap: true, FlipX: true}
