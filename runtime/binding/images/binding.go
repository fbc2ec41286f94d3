// Package images is the images binding of a Worker, with the shape of Cloudflare Images.
//
// In come encoded images and a plan: transforms, drawings of one image over another, the format to write. Out comes one encoded image
// with warnings of ignored options, or the description of an image. The JavaScript half only collects the plan; [Funcs] does the work.
//
// A refusal is an [Error] with Cloudflare's code and sentence. The memory of an image is known before it is decoded, and
// all sites of a process share one [Queue]. Safe for concurrent use. The package reads and writes no files.
package images

import (
	"context"
	"fmt"
	"image"
	"runtime"
	"slices"
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

// Binding reads and transforms images of one site. It is safe for concurrent use; images beyond Options.Parallel wait, and
// then wait in Options.Queue.
type Binding struct {
	o     Options
	lanes lanes
}

// Options bound the cost of one image.
type Options struct {
	MaxBytes  int   // of an encoded image; 0 means 70 MiB
	MaxPixels int64 // of an image read or made; 0 means 100 million
	Parallel  int   // images of the site worked on at once; 0 means 2
	// Time bounds the work on one image, in the time of engine.WorkTime; 0 means 30 s.
	Time time.Duration
	// Queue is shared by all sites; nil means one of its own.
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

// Error is a refusal of the images binding; its text is "IMAGES_<operation>_ERROR <code>: <text>".
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

// Info is the description of an image. For an SVG it has only the format.
type Info struct {
	Format   string // a media type: "image/png"
	FileSize int
	Width    int // in pixels, as stored: before any EXIF rotation
	Height   int
}

// Info describes the image in data without decoding its pixels, so it works for an AVIF, too, which cannot be decoded here.
func (i *Binding) Info(data []byte) (Info, error) {
	if size := avifSize(data); sniff(data) == formatAVIF && size != (image.Point{}) && len(data) <= i.o.MaxBytes {
		return Info{Format: formatAVIF, FileSize: len(data), Width: size.X, Height: size.Y}, nil
	}
	format, config, err := i.config(data)
	if err != nil {
		named := *err
		named.Operation = "INFO"
		return Info{}, &named
	}
	if format == formatSVG {
		return Info{Format: format}, nil
	}
	return Info{Format: format, FileSize: len(data), Width: config.Width, Height: config.Height}, nil
}

// Queue bounds the concurrent images of a process by its memory and its processors. All sites of a process share one; each
// enters it with a few images at a time, so that a site with many does not block the others. It is safe for concurrent use.
type Queue struct {
	memory *engine.HostMemory
	lanes  lanes
}

// lanes are places for images: slots for all, and one for large ones.
type lanes struct{ slots, large chan struct{} }

func newLanes(slots int) lanes {
	return lanes{slots: make(chan struct{}, slots), large: make(chan struct{}, 1)}
}

// NewQueue returns a queue of images whose pixels take memory from memory; nil means one of its own. It works on as many
// images at once as there are processors, and at least two: a large one leaves a place for small ones.
func NewQueue(memory *engine.HostMemory) *Queue {
	if memory == nil {
		memory = engine.NewHostMemory(0)
	}
	return &Queue{memory: memory, lanes: newLanes(max(runtime.GOMAXPROCS(0), 2))}
}

// maxBytes bounds the memory of one image: an eighth of all is reserved for small ones.
func (q *Queue) maxBytes() int64 { return q.memory.Total() / 8 * 7 }

// enter waits until an image of a site may be worked on, and until so many bytes are free; leave releases both. It refuses more
// than maxBytes at once. A large image takes a slot only after its turn among the large ones.
func (q *Queue) enter(ctx context.Context, site lanes, bytes int64) (leave func(), err error) {
	if most := q.maxBytes(); bytes > most {
		return nil, refuse(codeArea, "The image takes %d MB of memory to work on, over the limit of %d MB; "+
			"make it smaller before, ask for a smaller one, or store it neither interlaced nor progressive", bytes>>20+1, most>>20)
	}
	var releases []func()
	leave = func() {
		for _, release := range slices.Backward(releases) {
			release()
		}
	}
	lanes := []chan struct{}{site.slots, q.lanes.slots}
	if bytes > largeImage {
		lanes = []chan struct{}{site.large, q.lanes.large, site.slots, q.lanes.slots}
	}
	for _, lane := range lanes {
		select {
		case lane <- struct{}{}:
			releases = append(releases, func() { <-lane })
		case <-ctx.Done():
			leave()
			return nil, ctx.Err()
		}
	}
	release, err := q.memory.Reserve(ctx, bytes)
	if err != nil {
		leave()
		return nil, err
	}
	releases = append(releases, release)
	return leave, nil
}
