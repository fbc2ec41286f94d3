package binding

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"slices"
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

// Images reads and transforms images. It is safe for concurrent use; what is
// over ImagesOptions.Parallel waits, what is over ImagesOptions.Memory too, and large
// images wait for each other.
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
	// Time is how long one image may be worked on, as engine.WorkTime counts; 0 means 30 s.
	Time time.Duration
	// Memory is what pixels may take, together with those of other sites; nil means one of
	// its own.
	Memory *engine.HostMemory
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
	if o.Memory == nil {
		o.Memory = engine.NewHostMemory(0)
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

// enter waits for a slot and for room for so many bytes, and behind another large image
// of the site where they are many; leave gives back what it took. More than one image
// may take is refused at once.
func (i *Images) enter(ctx context.Context, bytes int64) (leave func(), err error) {
	if most := i.mostBytes(); bytes > most {
		return nil, imageError(codeImageArea, "The image takes %d MB of memory to work on, over the limit of %d MB; "+
			"make it smaller before, ask for a smaller one, or store it neither interlaced nor progressive", bytes>>20+1, most>>20)
	}
	var taken []func()
	leave = func() {
		for _, back := range slices.Backward(taken) {
			back()
		}
	}
	lanes := []chan struct{}{i.slots}
	if bytes > largeImage {
		lanes = []chan struct{}{i.large, i.slots}
	}
	for _, lane := range lanes {
		select {
		case lane <- struct{}{}:
			taken = append(taken, func() { <-lane })
		case <-ctx.Done():
			leave()
			return nil, ctx.Err()
		}
	}
	release, err := i.o.Memory.Reserve(ctx, bytes)
	if err != nil {
		leave()
		return nil, err
	}
	taken = append(taken, release)
	return leave, nil
}

// mostBytes is the most that one image may take: an eighth of all stays for small ones.
func (i *Images) mostBytes() int64 { return i.o.Memory.Total() / 8 * 7 }
