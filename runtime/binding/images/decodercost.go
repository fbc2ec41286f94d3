package images

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image"
	"image/color"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
)

// This file computes the memory of the decoders from the header of a file. The figures are from their source (image/jpeg,
// image/png, image/gif of Go 1.26, and golang.org/x/image/webp); TestImagesCost compares them with the allocations of decoding.

var (
	errNoPixels     = errors.New("it has no pixels")
	errOtherSize    = errors.New("its pixels have another size than its header says")
	errChunkTooLong = errors.New("one of its parts is longer than the file")
)

const decoderBytes = 256 << 10

// decodedBytes returns a bound on the decoder's memory, and whether all pixels are known to be opaque. It stops once held
// exceeds most, and calls check from time to time.
func decodedBytes(
	format string, data []byte, size image.Point, model color.Model, most int64, check func() error,
) (held int64, opaque bool, err error) {
	area := int64(size.X) * int64(size.Y)
	switch format {
	case formatJPEG:
		held, opaque = jpegBytes(data, size, model), true
	case formatPNG:
		held, opaque = pngBytes(data, area, model)
	case formatGIF:
		held = 2 * area // interlaced rows are put in order in a copy
	case formatWebP:
		held, opaque, err = webpBytes(data, size, most, check)
	}
	return held + decoderBytes, opaque, err
}

func pngBytes(data []byte, area int64, model color.Model) (held int64, opaque bool) {
	each, keyed := int64(1), bytes.Contains(data, []byte("tRNS"))
	switch model {
	case color.GrayModel:
		if opaque = !keyed; keyed {
			each = 4
		}
	case color.RGBAModel:
		each, opaque = 4, !keyed
	case color.NRGBAModel:
		each = 4
	case color.Gray16Model:
		if each, opaque = 2, !keyed; keyed {
			each = 8
		}
	case color.RGBA64Model:
		each, opaque = 8, !keyed
	case color.NRGBA64Model:
		each = 8
	}
	if isInterlaced(data) {
		return each * area * 3 / 2, opaque // its last pass has half of the rows
	}
	return each * area, opaque
}

func isInterlaced(data []byte) bool { return len(data) > 28 && data[28] != 0 }

// jpegBytes is the memory that the decoder needs for a JPEG: its samples, all coefficients of a progressive one, and the pixels of RGB
// and CMYK.
func jpegBytes(data []byte, size image.Point, model color.Model) int64 {
	sof := jpegFrame(data)
	if sof.size != size {
		sof = jpegHeader{progressive: true, samples: 4, across: 1, down: 1} // the most
	}
	units := func(side, each int) int64 { return int64((side + 8*each - 1) / (8 * each)) }
	held := units(size.X, sof.across) * units(size.Y, sof.down) * int64(sof.samples) * 64
	if sof.progressive {
		held *= 1 + 4
	}
	if model == color.RGBAModel || model == color.CMYKModel {
		held += 4 * int64(size.X) * int64(size.Y)
	}
	return held
}

// jpegHeader is the frame header of a JPEG (T.81, B.2.2).
type jpegHeader struct {
	size         image.Point
	progressive  bool
	across, down int // blocks of 8×8 samples that a unit has of the first component
	samples      int // blocks that a unit has of all components
}

// jpegFrame finds the frame header like image/jpeg. It returns zero without one.
func jpegFrame(data []byte) jpegHeader {
	for rest := data[min(len(data), 2):]; len(rest) >= 4; {
		marker := rest[1]
		switch {
		case rest[0] != 0xff || marker == 0xff || marker == 0: // image/jpeg skips these too
			rest = rest[1:]
			continue
		case marker >= 0xd0 && marker <= 0xd7: // a restart has no content
			rest = rest[2:]
			continue
		}
		length := int(binary.BigEndian.Uint16(rest[2:]))
		if length < 2 || 2+length > len(rest) {
			break
		}
		if marker >= 0xc0 && marker <= 0xc2 {
			return jpegFrameOf(rest[4:2+length], marker == 0xc2)
		}
		rest = rest[2+length:]
	}
	return jpegHeader{}
}

func jpegFrameOf(content []byte, progressive bool) jpegHeader {
	if len(content) < 9 || len(content) != 6+3*int(content[5]) {
		return jpegHeader{}
	}
	h := jpegHeader{
		size:        image.Pt(int(binary.BigEndian.Uint16(content[3:])), int(binary.BigEndian.Uint16(content[1:]))),
		progressive: progressive,
		across:      int(content[7] >> 4), down: int(content[7] & 15),
	}
	for c := 6; c < len(content); c += 3 {
		h.samples += int(content[c+1]>>4) * int(content[c+1]&15)
	}
	if content[5] == 1 { // one component is not interleaved: its factors mean nothing
		h.across, h.down, h.samples = 1, 1, 1
	}
	if h.across == 0 || h.down == 0 {
		return jpegHeader{}
	}
	return h
}

// webpBytes is decodedBytes of a WebP without animation. A chunk longer than the file is an error: the decoder would allocate
// it. For a lossless image it reads the prefix codes, unless the pixels alone exceed most.
func webpBytes(data []byte, size image.Point, most int64, check func() error) (held int64, opaque bool, err error) {
	area := int64(size.X) * int64(size.Y)
	macro := int64((size.X+15)/16) * int64((size.Y+15)/16)
	opaque = true
	if int64(binary.LittleEndian.Uint32(data[4:]))+8 > int64(len(data))+1 { // the last byte may be padding
		return 0, false, errChunkTooLong
	}
	for rest := data[12:]; len(rest) >= 8; {
		n := int64(binary.LittleEndian.Uint32(rest[4:]))
		if n > int64(len(rest))-8 {
			return 0, false, errChunkTooLong
		}
		content := rest[8 : 8+n]
		var lossless []byte
		switch string(rest[:4]) {
		case "VP8 ": // 4:2:0, the filter of each block, and the file's bytes
			return held + macro*(16*16*3/2+16) + n, opaque, nil
		case "VP8L": // 4 bytes a pixel, again with a palette, and transforms
			held, opaque, lossless = held+9*area, false, skip(content, 5)
		case "ALPH": // the same, and an alpha each
			held, opaque = held+10*area, false
			if len(content) > 0 && content[0]&3 == 1 {
				lossless = content[1:]
			}
		}
		if lossless != nil && held <= most {
			codes, err := raster.VP8LBytes(lossless, size, check)
			if err != nil {
				return 0, false, err
			}
			held += codes
		}
		rest = skip(rest, int(8+n+n%2)) // n is less than the file
	}
	return held, opaque, nil
}
