package binding

import (
	"bytes"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"

	"github.com/deepteams/webp"
)

// maxWebP is the longest side of a WebP image.
const maxWebP = 16383

// encode writes m in the form that o asks for.
func encode(m image.Image, o imageOutput) (imageResult, *ImagesError) {
	quality, refusal := o.quality()
	if refusal != nil {
		return imageResult{}, refusal
	}
	if o.Background != "" {
		ground, ok := parseColor(o.Background)
		if !ok {
			return imageResult{}, imageError(codeImageOptions, "background %q is not a color", o.Background)
		}
		m = over(m, ground)
	}
	var (
		b   bytes.Buffer
		err error
	)
	switch o.Format {
	case formatJPEG:
		if !opaque(m) {
			m = over(m, color.White)
		}
		err = jpeg.Encode(&b, m, &jpeg.Options{Quality: quality})
	case formatPNG:
		err = png.Encode(&b, m)
	case formatGIF:
		err = gif.Encode(&b, m, nil)
	case formatWebP:
		if size := m.Bounds().Size(); max(size.X, size.Y) > maxWebP {
			return imageResult{}, imageError(codeImageOptions, "a side of %d pixels is over the %d that image/webp allows", max(size.X, size.Y), maxWebP)
		}
		options := webp.DefaultOptions()
		options.Quality = float32(quality)
		err = webp.Encode(&b, m, options)
	case "rgb", "rgba":
		return imageResult{Data: raw(m, o.Format == "rgba"), Type: "application/octet-stream"}, nil
	default:
		return imageResult{}, imageError(codeImageUnsupported,
			"Writing %q is not supported by this runtime; use image/webp, image/jpeg, image/png or image/gif", o.Format)
	}
	if err != nil {
		return imageResult{}, imageError(codeImageInternal, "The image could not be encoded: %v", err)
	}
	return imageResult{Data: b.Bytes(), Type: o.Format}, nil
}

func opaque(m image.Image) bool {
	known, ok := m.(interface{ Opaque() bool })
	return ok && known.Opaque()
}

// raw is the bytes of the pixels, row by row, without padding.
func raw(m image.Image, alpha bool) []byte {
	bounds := m.Bounds()
	out := make([]byte, 0, bounds.Dx()*bounds.Dy()*4)
	for y := bounds.Min.Y; y < bounds.Max.Y; y++ {
		for x := bounds.Min.X; x < bounds.Max.X; x++ {
			c, _ := color.NRGBAModel.Convert(m.At(x, y)).(color.NRGBA)
			out = append(out, c.R, c.G, c.B)
			if alpha {
				out = append(out, c.A)
			}
		}
	}
	return out
}
