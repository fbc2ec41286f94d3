package binding

// This file holds the choices about storage, images and assets that the
// platform document (section 2.9 declares the bindings) leaves open. Each may
// change without a change of the API.
//
// Storage. The service is taken to be R2: its limits, codes and sentences.
// Objects cannot be encrypted with a key of the Worker's own. Multipart uploads
// that nobody finished are dropped after seven days.
//
// Images. The service is taken to be Cloudflare Images. SVG, AVIF and HEIC are
// not transformed, animations become stills, AVIF is not written; text() and
// hosted images are refused. An option that is not known has no effect, and the
// log says so.
//
// Assets. A Worker reaches every file of its site: the members gate guards
// requests from outside.
const (
	// defaultFit is how an image is fitted when a transform names no fit.
	defaultFit = "scale-down"
	// defaultQuality is that of JPEG and WebP when an output names none.
	defaultQuality = 85

	// sharpenStep is how much of a pixel's difference from its neighbours a
	// sharpen of 1 adds.
	sharpenStep = 0.5
	// defaultTolerance is how far a channel of a border that is trimmed may be off.
	defaultTolerance = 10
	// defaultBorder is the colour of a border when a transform names none.
	defaultBorder = "black"

	// The bounds of ImagesOptions.
	defaultImageBytes    = 70 << 20
	defaultImagePixels   = 100_000_000
	defaultImageParallel = 2
	// largeImage is the bytes of pixels over which images are worked on one at a
	// time: a hundred million pixels are 400 MB, of 16 bits a channel 800 MB.
	largeImage = 128 << 20
)
