package images

import (
	"image"
	"image/draw"
	"math/rand/v2"

	"github.com/deepteams/webp"
)

// This file knows what the WebP encoder holds (github.com/deepteams/webp 1.2): planes and
// blocks of each pixel, and of its lossy data two bytes for each bit before that is packed,
// whose number depends on what is seen. TestImagesWebPHeld measures the figures.
const (
	// webpSmall is what the encoder holds of a small image.
	webpSmall = 4 << 20
	// webpPixel is the bytes of a pixel of which nothing is written.
	webpPixel = 6
	// webpWritten is the bytes for each byte that a sample of the image is written as.
	webpWritten = 36
	// webpAlpha is the bytes of the alpha of a pixel, measured with noise.
	webpAlpha = 30

	// A sample has so many tiles in each direction of so many pixels.
	sampleTiles = 16
	sampleTile  = 64
)

// maxPixelBytes is the most bytes that the encoder holds for a pixel, of noise in black and
// white.
func maxPixelBytes(quality int) int64 {
	switch {
	case quality <= 50:
		return 28
	case quality <= 85:
		return 36
	}
	return 50
}

// webpEncoderBytes is what the encoder holds of an image at least, whatever is seen on it, and at
// most.
func webpEncoderBytes(size image.Point, opaque bool, quality int) (least, most int64) {
	area, alpha := int64(size.X)*int64(size.Y), int64(webpAlpha)
	if opaque {
		alpha = 0
	}
	return (webpPixel+alpha)*area + webpSmall, (maxPixelBytes(quality)+alpha)*area + webpSmall
}

// look refuses what takes more than the encoding holds to be written as a WebP.
func (e *encoding) look(m image.Image, options *webp.EncoderOptions) error {
	if e.spare < 0 {
		return nil
	}
	more, err := webpSampled(m, options)
	if err != nil {
		return err
	}
	if more > e.spare {
		return refuse(codeArea, "The image takes %d MB of memory to be written as image/webp, over the limit of %d MB; "+
			"ask for a smaller one, for less quality, or for image/jpeg", (e.held-e.spare+more)>>20+1, e.held>>20)
	}
	return nil
}

// webpSampled is what the encoder holds of m beside what it holds at least. It writes a
// sample for it.
func webpSampled(m image.Image, options *webp.EncoderOptions) (int64, error) {
	tiles := sample(m)
	var written counter
	if err := webp.Encode(&written, tiles, options); err != nil {
		return 0, err
	}
	size := m.Bounds().Size()
	return int64(size.X) * int64(size.Y) * webpWritten * int64(written) / int64(len(tiles.Pix)/4), nil
}

// counter counts what is written.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}

// sample is tiles of m from anywhere, so that nobody knows what is not looked at. Each is
// turned and inverted in some way: of a pattern that repeats the encoder holds as much as
// of one that does not, and writes little.
func sample(m image.Image) *image.RGBA {
	bounds := m.Bounds()
	side := min(sampleTile, bounds.Dx(), bounds.Dy())
	out := image.NewRGBA(image.Rect(0, 0, sampleTiles*side, sampleTiles*side))
	tile := image.NewRGBA(image.Rect(0, 0, side, side))
	for i := range sampleTiles * sampleTiles {
		at := bounds.Min.Add(image.Pt(rand.IntN(bounds.Dx()-side+1), rand.IntN(bounds.Dy()-side+1)))
		draw.Draw(tile, tile.Rect, m, at, draw.Src)
		way, corner := rand.IntN(16), image.Pt(i%sampleTiles*side, i/sampleTiles*side)
		for y := range side {
			for x := range side {
				to := turned(image.Pt(x, y), side, way).Add(corner)
				from, into := tile.Pix[tile.PixOffset(x, y):], out.Pix[out.PixOffset(to.X, to.Y):]
				for c := range 3 {
					into[c] = from[c] ^ uint8(way>>3*0xff)
				}
				into[3] = 0xff
			}
		}
	}
	return out
}

// turned is where a pixel of a square goes, in one of eight ways.
func turned(p image.Point, side, way int) image.Point {
	if way&1 != 0 {
		p.X = side - 1 - p.X
	}
	if way&2 != 0 {
		p.Y = side - 1 - p.Y
	}
	if way&4 != 0 {
		p.X, p.Y = p.Y, p.X
	}
	return p
}
