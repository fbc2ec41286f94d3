package images

import "time"

// The platform document leaves these choices open. Each can change without a change of the API.
//
// The model is Cloudflare Images. SVG, AVIF and HEIC are not transformed, animations become stills, AVIF is not written;
// text() and hosted images are refused. An unknown option only adds a line to the log. As in the service, the work does
// not count as the Worker's CPU time: an image may take 30 s of its own CPU time, and then ends with code 9522 (there,
// "the image exceeded the processing limit"). The memory of an image is known before it is decoded, and that of a large
// WebP before it is encoded; all sites of a process share 256 MB, of which one image may take seven eighths. More is code
// 9413, like too many pixels.
const (
	defaultFit       = "scale-down" // of a transform
	defaultQuality   = 85           // of JPEG and WebP
	sharpenStep      = 0.5          // of a pixel's difference from its neighbours, for a sharpen of 1
	defaultTolerance = 10           // of a channel of a border that is trimmed
	defaultBorder    = "black"

	// The bounds of Options.
	defaultMaxBytes  = 70 << 20
	defaultMaxPixels = 100_000_000
	defaultParallel  = 2
	defaultTime      = 30 * time.Second

	// Bytes.
	largeImage  = 32 << 20 // a process handles larger images one at a time
	wholePNG    = 16 << 20 // of pixels; a larger PNG is read row by row, as RGBA with 8 bits a colour
	wholeOutput = 16 << 20 // of pixels that an encoder gets at once
	outputLeast = 1 << 20  // of an output beside its pixels
)
