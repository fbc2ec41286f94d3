package images

import "time"

// This file holds the choices about images that the platform document leaves open. Each may change without a change of
// the API.
//
// The service is taken to be Cloudflare Images. SVG, AVIF and HEIC are not transformed, animations become stills, AVIF
// is not written; text() and hosted images are refused. An option that is not known has no effect, and the log says so.
// The service does not count its work as the Worker's CPU time, and neither is it here: an image may take 30 s of CPU
// time of its own, and ends with code 9522 (there, "the image exceeded the processing limit"). What an image will hold
// is known before it is decoded, and of a large WebP to be written before it is encoded; all sites of a process share
// 256 MB, of which one image may take seven eighths. More is code 9413, as too many pixels are.
const (
	// defaultFit is how an image is fitted when a transform names no fit.
	defaultFit = "scale-down"
	// defaultQuality is that of JPEG and WebP when an output names none.
	defaultQuality = 85

	// sharpenStep is how much of a pixel's difference from its neighbours a sharpen of 1 adds.
	sharpenStep = 0.5
	// defaultTolerance is how far a channel of a border that is trimmed may be off.
	defaultTolerance = 10
	// defaultBorder is the colour of a border when a transform names none.
	defaultBorder = "black"

	// The bounds of Options.
	defaultMaxBytes  = 70 << 20
	defaultMaxPixels = 100_000_000
	defaultParallel  = 2
	defaultTime      = 30 * time.Second
	// largeImage is the bytes that an image holds over which the images of a process are worked on one at a time.
	largeImage = 32 << 20
	// wholePNG is the bytes of pixels up to which a PNG is decoded whole; a larger one is
	// read row by row, as RGBA with 8 bits a colour.
	wholePNG = 16 << 20
	// wholeOutput is the bytes of pixels up to which an encoder is given all of them.
	wholeOutput = 16 << 20
	// outputLeast is room for what an outcome holds beside its pixels.
	outputLeast = 1 << 20
)
