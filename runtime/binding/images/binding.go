// Package images is the images binding of a Worker, with the shape of Cloudflare Images.
//
// In come encoded images and a plan: transforms, drawings of one image over another, the format to write. Out comes one
// encoded image with warnings of what was asked for and not done, or the description of an image. The JavaScript half only
// collects the plan; [Funcs] does the work.
//
// A refusal is an [Error] with Cloudflare's code and sentence. The memory that an image will take is known before it is
// decoded, and all sites of a process share one [Queue]. Safe for concurrent use. The package reads and writes no files.
package images

import (
	"bytes"
	"fmt"
	"image"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// Codes of the images binding, as Cloudflare Images numbers them.
const (
	codeOptions       = 9401
	codeTooBig        = 9402
	codeNotAnImage    = 9412
	codeArea          = 9413
	codeUnsupported   = 9520
	codeTime          = 9522
	codeInternalError = 9523
)

// Binding reads and transforms images of one site. It is safe for concurrent use; what is
// over Options.Parallel waits, and then for its turn in Options.Queue.
type Binding struct {
	o     Options
	lanes lanes
}

// Options bound what one image may cost.
type Options struct {
	MaxBytes  int   // of an encoded image; 0 means 70 MiB
	MaxPixels int64 // of an image read or made; 0 means 100 million
	Parallel  int   // images of the site worked on at once; 0 means 2
	// Time is how long one image may be worked on, as engine.WorkTime counts; 0 means 30 s.
	Time time.Duration
	// Queue is that of all sites; nil means one of its own.
	Queue *Queue
}

// New returns an images binding.
func New(o Options) *Binding {
	if o.MaxBytes <= 0 {
		o.MaxBytes = defaultMaxBytes
	}
	if o.MaxPixels <= 0 {
		o.MaxPixels = defaultMaxPixels
	}
	if o.Parallel <= 0 {
		o.Parallel = defaultParallel
	}
	if o.Time <= 0 {
		o.Time = defaultTime
	}
	if o.Queue == nil {
		o.Queue = NewQueue(nil)
	}
	return &Binding{o: o, lanes: newLanes(o.Parallel)}
}

// Error is a refusal of the images binding; its text is
// "IMAGES_<operation>_ERROR <code>: <text>".
type Error struct {
	Operation string // "INFO" or "TRANSFORM"
	Code      int
	Text      string
}

func (e *Error) Error() string {
	return fmt.Sprintf("IMAGES_%s_ERROR %d: %s", e.Operation, e.Code, e.Text)
}

// WorkerError is the error that a Worker catches.
func (e *Error) WorkerError() *engine.Error {
	return &engine.Error{Name: "Error", Message: e.Error(), Props: []engine.Field{{Name: "code", Value: e.Code}}}
}

func refuse(code int, format string, args ...any) *Error {
	return &Error{Operation: "TRANSFORM", Code: code, Text: fmt.Sprintf(format, args...)}
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
func (i *Binding) info(data []byte) (imageInfo, error) {
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
