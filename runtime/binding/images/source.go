package images

import (
	"bytes"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"

	"github.com/pages-toolchain/pages/runtime/binding/images/raster"
)

type codec struct {
	config func(io.Reader) (image.Config, error)
	decode func(io.Reader) (image.Image, error)
}

var codecs = map[string]codec{
	formatJPEG: {jpeg.DecodeConfig, jpeg.Decode},
	formatPNG:  {png.DecodeConfig, png.Decode},
	formatGIF:  {gif.DecodeConfig, gif.Decode},
	formatWebP: {webp.DecodeConfig, webp.Decode},
}

// config reads the format and dimensions of the image in data, and checks them against the limits.
func (i *Binding) config(data []byte) (string, image.Config, *Error) {
	if len(data) > i.o.MaxBytes {
		return "", image.Config{}, refuse(codeTooBig, "The image is %d bytes, over the limit of %d", len(data), i.o.MaxBytes)
	}
	format := sniff(data)
	switch format {
	case "":
		return "", image.Config{}, refuse(codeNotAnImage, "The input is not an image")
	case formatSVG:
		return format, image.Config{}, nil
	case formatAVIF, formatHEIC:
		return "", image.Config{}, refuse(codeUnsupported, "Reading %s is not supported by this runtime", format)
	}
	config, err := codecs[format].config(bytes.NewReader(data))
	if err == nil && (config.Width <= 0 || config.Height <= 0) {
		err = errNoPixels
	}
	if err != nil {
		return "", image.Config{}, decodeError(err)
	}
	if area := int64(config.Width) * int64(config.Height); area > i.o.MaxPixels {
		return "", image.Config{}, refuse(codeArea, "The image has %d pixels, over the limit of %d", area, i.o.MaxPixels)
	}
	return format, config, nil
}

func decodeError(err error) *Error {
	return refuse(codeNotAnImage, "The image cannot be read: %v", err)
}

// open returns the first frame of the image in data, upright and not decoded yet, and whether there are more frames. check is
// called while it is read.
func (i *Binding) open(data []byte, check func() error) (picture, bool, *Error) {
	format, config, refusal := i.config(data)
	if refusal != nil {
		return picture{}, false, refusal
	}
	more := isAnimated(format, data)
	switch {
	case format == formatSVG:
		return picture{}, false, refuse(codeUnsupported, "Transforming image/svg+xml is not supported by this runtime")
	case format == formatWebP && more:
		return picture{}, false, refuse(codeUnsupported, "Transforming an animated image/webp is not supported by this runtime")
	}
	size := image.Pt(config.Width, config.Height)
	if format == formatGIF {
		if size, _ = gifFrames(data); size.X == 0 || size.Y == 0 {
			return picture{}, false, decodeError(errNoPixels)
		}
	}
	held, opaque, err := decodedBytes(format, data, size, config.ColorModel, i.o.Queue.maxBytes(), check)
	if err != nil {
		return picture{}, false, decodeError(err)
	}
	if format == formatPNG && held > wholePNG && !isInterlaced(data) {
		rows, err := raster.NewPNG(data, check)
		if err != nil {
			return picture{}, false, decodeError(err)
		}
		return picture{rows: refusingRows{rows}}, more, nil
	}
	p := picture{rows: raster.NewDecoded(raster.DecodedOptions{
		Size: size, Opaque: opaque, Bytes: held,
		Decode: func() (image.Image, error) {
			m, err := codecs[format].decode(&checkedReader{bytes.NewReader(data), check})
			switch {
			case err != nil:
				return nil, decodeError(err)
			case m.Bounds().Size() != size:
				return nil, decodeError(errOtherSize)
			}
			return m, nil
		},
	})}
	if format == formatJPEG {
		p.turn = turns[orientation(data)]
	}
	return p, more, nil
}

// refusingRows converts errors of rows to refusals of the image.
type refusingRows struct{ raster.Rows }

// Next implements raster.Rows.
func (r refusingRows) Next() ([]uint8, error) {
	row, err := r.Rows.Next()
	if err != nil {
		return nil, decodeError(err)
	}
	return row, nil
}

// checkedReader calls check before each read, so that a decoder can be stopped.
type checkedReader struct {
	io.Reader
	check func() error
}

func (r *checkedReader) Read(into []byte) (int, error) {
	if err := r.check(); err != nil {
		return 0, err
	}
	return r.Reader.Read(into[:min(len(into), readPiece)])
}

const readPiece = 4 << 10 // bytes of a file that a decoder gets at a time, at most
