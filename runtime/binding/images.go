package binding

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"io"

	"golang.org/x/image/webp"
)

// Codes of the images binding, as Cloudflare Images numbers them.
const (
	codeImageOptions     = 9401
	codeImageTooBig      = 9402
	codeNotAnImage       = 9412
	codeImageArea        = 9413
	codeImageUnsupported = 9520
	codeImageInternal    = 9523
)

// Images reads and transforms images. It is safe for concurrent use; what is
// over ImagesOptions.Parallel waits, and large images wait for each other.
type Images struct {
	o     ImagesOptions
	slots chan struct{}
	large chan struct{}
}

// ImagesOptions bound what one image may cost.
type ImagesOptions struct {
	MaxBytes  int   // of an encoded image; 0 means 70 MiB
	MaxPixels int64 // of an image read or made; 0 means 100 million
	Parallel  int   // images worked on at once; 0 means 2
}

// NewImages returns an images binding.
func NewImages(o ImagesOptions) *Images {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultImageBytes
	}
	if o.MaxPixels <= 0 {
		o.MaxPixels = defaultImagePixels
	}
	if o.Parallel <= 0 {
		o.Parallel = defaultImageParallel
	}
	return &Images{o: o, slots: make(chan struct{}, o.Parallel), large: make(chan struct{}, 1)}
}

// ImagesError is a refusal of the images binding; its text is
// "IMAGES_<operation>_ERROR <code>: <text>".
type ImagesError struct {
	Operation string // "INFO" or "TRANSFORM"
	Code      int
	Text      string
}

func (e *ImagesError) Error() string {
	return fmt.Sprintf("IMAGES_%s_ERROR %d: %s", e.Operation, e.Code, e.Text)
}

func imageError(code int, format string, args ...any) *ImagesError {
	return &ImagesError{Operation: "TRANSFORM", Code: code, Text: fmt.Sprintf(format, args...)}
}

// imageInfo describes an image. Of an SVG only the format is known.
type imageInfo struct {
	Format   string // a media type: "image/png"
	FileSize int
	Width    int // in pixels, as stored: before any EXIF rotation
	Height   int
}

// info describes the image in data without decoding its pixels. An AVIF, which
// cannot be decoded here, is described too.
func (i *Images) info(data []byte) (imageInfo, error) {
	if size := avifSize(data); sniff(data) == formatAVIF && size != (image.Point{}) && len(data) <= i.o.MaxBytes {
		return imageInfo{Format: formatAVIF, FileSize: len(data), Width: size.X, Height: size.Y}, nil
	}
	format, config, err := i.config(data)
	if err != nil {
		named := *err
		named.Operation = "INFO"
		return imageInfo{}, &named
	}
	if format == formatSVG {
		return imageInfo{Format: format}, nil
	}
	return imageInfo{Format: format, FileSize: len(data), Width: config.Width, Height: config.Height}, nil
}

const (
	formatJPEG = "image/jpeg"
	formatPNG  = "image/png"
	formatGIF  = "image/gif"
	formatWebP = "image/webp"
	formatAVIF = "image/avif"
	formatHEIC = "image/heic"
	formatSVG  = "image/svg+xml"
)

// codec is how one format is read.
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
	case isSVG(data):
		return formatSVG
	}
	return ""
}

// isSVG looks for the root element within the first kilobyte.
func isSVG(data []byte) bool {
	head := bytes.TrimLeft(bytes.TrimPrefix(data[:min(len(data), 1024)], []byte("\xef\xbb\xbf")), " \t\r\n")
	return bytes.HasPrefix(head, []byte("<")) && bytes.Contains(head, []byte("<svg"))
}

// config reads the dimensions of the image in data and holds them to the limits.
func (i *Images) config(data []byte) (string, image.Config, *ImagesError) {
	if len(data) > i.o.MaxBytes {
		return "", image.Config{}, imageError(codeImageTooBig, "The image is %d bytes, over the limit of %d", len(data), i.o.MaxBytes)
	}
	format := sniff(data)
	switch format {
	case "":
		return "", image.Config{}, imageError(codeNotAnImage, "The input is not an image")
	case formatSVG:
		return format, image.Config{}, nil
	case formatAVIF, formatHEIC:
		return "", image.Config{}, imageError(codeImageUnsupported, "Reading %s is not supported by this runtime", format)
	}
	config, err := codecs[format].config(bytes.NewReader(data))
	if err != nil {
		return "", image.Config{}, imageError(codeNotAnImage, "The image cannot be read: %v", err)
	}
	if area := int64(config.Width) * int64(config.Height); area > i.o.MaxPixels {
		return "", image.Config{}, imageError(codeImageArea, "The image has %d pixels, over the limit of %d", area, i.o.MaxPixels)
	}
	return format, config, nil
}

// decode reads the first frame of the image in data, upright. It also reports
// whether there are more.
func (i *Images) decode(data []byte) (image.Image, bool, *ImagesError) {
	format, _, refusal := i.config(data)
	if refusal != nil {
		return nil, false, refusal
	}
	more := animated(format, data)
	switch {
	case format == formatSVG:
		return nil, false, imageError(codeImageUnsupported, "Transforming image/svg+xml is not supported by this runtime")
	case format == formatWebP && more:
		return nil, false, imageError(codeImageUnsupported, "Transforming an animated image/webp is not supported by this runtime")
	}
	m, err := codecs[format].decode(bytes.NewReader(data))
	if err != nil {
		return nil, false, imageError(codeNotAnImage, "The image cannot be read: %v", err)
	}
	if format == formatJPEG {
		m = upright(m, orientation(data))
	}
	return m, more, nil
}

// enter waits for a slot, and for the end of another large image when the inputs
// make one; leave gives back what it took.
func (i *Images) enter(ctx context.Context, inputs [][]byte) (leave func(), err error) {
	if i.decoded(inputs) <= largeImage {
		if err := take(ctx, i.slots); err != nil {
			return nil, err
		}
		return func() { <-i.slots }, nil
	}
	if err := take(ctx, i.large); err != nil {
		return nil, err
	}
	if err := take(ctx, i.slots); err != nil {
		<-i.large
		return nil, err
	}
	return func() { <-i.slots; <-i.large }, nil
}

func take(ctx context.Context, slots chan struct{}) error {
	select {
	case slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// decoded is how many bytes the inputs are as pixels. Those that will be refused
// count for nothing.
func (i *Images) decoded(inputs [][]byte) int64 {
	var sum int64
	for _, data := range inputs {
		_, config, err := i.config(data)
		if err != nil {
			continue
		}
		depth := int64(4)
		switch config.ColorModel {
		case color.RGBA64Model, color.NRGBA64Model, color.Gray16Model:
			depth = 8
		}
		sum += depth * int64(config.Width) * int64(config.Height)
	}
	return sum
}
