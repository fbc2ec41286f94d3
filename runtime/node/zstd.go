package node

import (
	"bytes"
	"errors"
	"io"

	"github.com/klauspost/compress/zstd"
)

const (
	// zstdWindow is that of zstd's default level.
	zstdWindow = 2 << 20
	// maxZstdWindow is the widest window of a stream, as in HTTP (RFC 9659): a decoder takes as much memory.
	maxZstdWindow = 8 << 20
)

// zstdDictionary begins a dictionary in Zstandard's format (RFC 8878); others are text.
var zstdDictionary = []byte{0x37, 0xa4, 0x30, 0xec} //nolint:gochecknoglobals // a constant

func (z codec) zstdWriter(out io.Writer) (compressor, error) {
	options := []zstd.EOption{
		zstd.WithEncoderLevel(zstd.EncoderLevelFromZstd(z.level)), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithWindowSize(zstdWindow), zstd.WithEncoderCRC(z.checksum), zstd.WithZeroFrames(true),
	}
	switch {
	case bytes.HasPrefix(z.dictionary, zstdDictionary):
		options = append(options, zstd.WithEncoderDict(z.dictionary))
	case len(z.dictionary) > 0:
		options = append(options, zstd.WithEncoderDictRaw(0, z.dictionary))
	}
	return zstd.NewWriter(out, options...)
}

func (z codec) zstdReader(in io.Reader) (io.ReadCloser, error) {
	options := []zstd.DOption{zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecoderMaxWindow(maxZstdWindow)}
	switch {
	case bytes.HasPrefix(z.dictionary, zstdDictionary):
		options = append(options, zstd.WithDecoderDicts(z.dictionary))
	case len(z.dictionary) > 0:
		options = append(options, zstd.WithDecoderDictRaw(0, z.dictionary))
	}
	d, err := zstd.NewReader(in, options...)
	if err != nil {
		return nil, err
	}
	return &zstdFrames{ReadCloser: d.IOReadCloser()}, nil
}

// zstdFrames reads frames in order, as RFC 8878 says and Node.js 22 does not, and ignores trailing bytes.
type zstdFrames struct {
	io.ReadCloser
	any bool
}

// Read implements io.Reader.
func (f *zstdFrames) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if f.any && errors.Is(err, zstd.ErrMagicMismatch) {
		err = io.EOF
	}
	f.any = f.any || n > 0
	return n, err
}

// zstdFailure is the code, the number and the text of an error in zstd's own library.
func zstdFailure(err error) (code string, number int, text string) {
	switch {
	case errors.Is(err, zstd.ErrMagicMismatch):
		return "ZSTD_error_prefix_unknown", 10, "Unknown frame descriptor"
	case errors.Is(err, zstd.ErrCRCMismatch):
		return "ZSTD_error_checksum_wrong", 22, "Restored data doesn't match checksum"
	case errors.Is(err, zstd.ErrWindowSizeExceeded):
		return "ZSTD_error_frameParameter_windowTooLarge", 16, "Frame requires too much memory for decoding"
	case errors.Is(err, zstd.ErrUnknownDictionary):
		return "ZSTD_error_dictionary_wrong", 32, "Dictionary mismatch"
	}
	return "ZSTD_error_corruption_detected", 20, "Data corruption detected"
}
