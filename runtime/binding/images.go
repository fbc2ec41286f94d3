package binding

import (
	"bytes"
	"fmt"
	"image"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// Codes of the images binding, as Cloudflare Images numbers them.
const (
	codeImageOptions     = 9401
	codeImageTooBig      = 9402
	codeNotAnImage       = 9412
	codeImageArea        = 9413
	codeImageUnsupported = 9520
	codeImageTime        = 9522
	codeImageInternal    = 9523
)

// Images reads and transforms images of one site. It is safe for concurrent use; what is
// over ImagesOptions.Parallel waits, and then for its turn in ImagesOptions.Queue.
type Images struct {
	o     ImagesOptions
	lanes imageLanes
}

// ImagesOptions bound what one image may cost.
type ImagesOptions struct {
	MaxBytes  int   // of an encoded image; 0 means 70 MiB
	MaxPixels int64 // of an image read or made; 0 means 100 million
	Parallel  int   // images of the site worked on at once; 0 means 2
	// Time is how long one image may be worked on, as engine.WorkTime counts; 0 means 30 s.
	Time time.Duration
	// Queue is that of all sites; nil means one of its own.
	Queue *ImageQueue
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
	if o.Time <= 0 {
		o.Time = defaultImageTime
	}
	if o.Queue == nil {
		o.Queue = NewImageQueue(nil)
	}
	return &Images{o: o, lanes: newImageLanes(o.Parallel)}
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

// WorkerError is the error that a Worker catches.
func (e *ImagesError) WorkerError() *engine.Error {
	return &engine.Error{Name: "Error", Message: e.Error(), Props: []engine.Field{{Name: "code", Value: e.Code}}}
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
