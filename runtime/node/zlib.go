package node

import (
	"bufio"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"errors"
	"hash/crc32"
	"io"

	"github.com/andybalholm/brotli"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// This file compresses. A stream of node:zlib gathers its input and gives it
// here whole: nothing is kept between calls, and what comes out is bounded.

func zlibOperations() map[string]operation {
	return map[string]operation{
		// zlib_compress(format, view, level, window bits, dictionary or null, async) -> bytes
		"zlib_compress": func(c *engine.Call) (any, error) {
			z := packer{format: c.String(1), input: c.Bytes(2), level: int(c.Int(3)), window: int(c.Int(4)), dictionary: c.Bytes(5)}
			return later(c, c.Bool(6), func() (any, error) { return z.compress() })
		},
		// zlib_expand(format, view, most bytes out, dictionary or null, whole, async) -> bytes
		"zlib_expand": func(c *engine.Call) (any, error) {
			z := packer{format: c.String(1), input: c.Bytes(2), most: c.Int(3), dictionary: c.Bytes(4), whole: c.Bool(5)}
			return later(c, c.Bool(6), func() (any, error) { return z.expand() })
		},
		// crc32(view, value) -> number
		"crc32": func(c *engine.Call) (any, error) {
			value := uint32(c.Int(2))
			return int64(crc32.Update(value, crc32.IEEETable, c.View(1))), nil
		},
	}
}

// packer is one piece of work.
type packer struct {
	format     string // gzip, deflate, raw, unzip, brotli
	input      []byte
	dictionary []byte
	level      int
	window     int   // brotli's
	most       int64 // bytes out
	whole      bool  // an input that ends early is an error
}

func (z packer) compress() (any, error) {
	var out bytes.Buffer
	w, err := z.writer(&out)
	if err != nil {
		return nil, failure("RangeError", "ERR_OUT_OF_RANGE", "the compression cannot be set up: %v", err)
	}
	if _, err := w.Write(z.input); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func (z packer) writer(out io.Writer) (io.WriteCloser, error) {
	switch z.format {
	case "gzip":
		w, err := gzip.NewWriterLevel(out, z.level)
		if err == nil {
			const unix = 3
			w.OS = unix // as Node.js writes it
		}
		return w, err
	case "deflate":
		return zlib.NewWriterLevelDict(out, z.level, z.dictionary)
	case "raw":
		return flate.NewWriterDict(out, z.level, z.dictionary)
	case "brotli":
		return brotli.NewWriterOptions(out, brotli.WriterOptions{Quality: z.level, LGWin: z.window}), nil
	}
	return nil, errors.New("there is no format " + z.format)
}

func (z packer) expand() (any, error) {
	in := bufio.NewReader(bytes.NewReader(z.input))
	if z.format == "unzip" {
		z.format = "deflate"
		if head, _ := in.Peek(2); len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b {
			z.format = "gzip"
		}
	}
	r, err := z.reader(in)
	if err != nil {
		return nil, z.failure(err)
	}
	var out bytes.Buffer
	n, err := io.Copy(&out, io.LimitReader(r, z.most+1))
	if n > z.most {
		return nil, failure("RangeError", "ERR_BUFFER_TOO_LARGE", "Cannot create a Buffer larger than %d bytes", z.most)
	}
	if err != nil && (z.whole || !isEarlyEnd(err)) {
		return nil, z.failure(err)
	}
	return out.Bytes(), nil
}

func isEarlyEnd(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) }

// reader does not read past the end of the data, but for further members of gzip.
func (z packer) reader(in *bufio.Reader) (io.Reader, error) {
	switch z.format {
	case "gzip":
		return &members{in: in}, nil
	case "deflate":
		return zlib.NewReaderDict(in, z.dictionary)
	case "raw":
		return flate.NewReaderDict(in, z.dictionary), nil
	case "brotli":
		return brotli.NewReader(in), nil
	}
	return nil, errors.New("there is no format " + z.format)
}

// members reads gzip members one after the other. Zeros may follow the last.
type members struct {
	in *bufio.Reader
	z  *gzip.Reader
}

// Read implements io.Reader.
func (m *members) Read(p []byte) (int, error) {
	for {
		if m.z == nil {
			if err := m.next(); err != nil {
				return 0, err
			}
		}
		n, err := m.z.Read(p)
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if head, _ := m.in.Peek(1); len(head) == 0 || head[0] == 0 {
			return n, io.EOF
		}
		if m.z = nil; n > 0 {
			return n, nil
		}
	}
}

// next begins a member.
func (m *members) next() (err error) {
	const first, second = 0x1f, 0x8b
	if head, _ := m.in.Peek(2); len(head) == 2 && (head[0] != first || head[1] != second) {
		return gzip.ErrHeader
	}
	if m.z, err = gzip.NewReader(m.in); err != nil {
		return err
	}
	m.z.Multistream(false)
	return nil
}

// failure is the error that zlib's or brotli's own library would give.
func (z packer) failure(err error) error {
	code, number, text := "Z_DATA_ERROR", -3, "incorrect header check"
	var corrupt flate.CorruptInputError
	switch {
	case z.format == "brotli" && isEarlyEnd(err):
		code, number, text = "Z_BUF_ERROR", -5, "unexpected end of file"
	case z.format == "brotli":
		code, number, text = "ERR__ERROR_FORMAT_PADDING_1", -14, "Decompression failed"
	case isEarlyEnd(err):
		code, number, text = "Z_BUF_ERROR", -5, "unexpected end of file"
	case errors.Is(err, zlib.ErrDictionary) && z.dictionary == nil:
		code, number, text = "Z_NEED_DICT", 2, "Missing dictionary"
	case errors.Is(err, zlib.ErrDictionary):
		text = "Bad dictionary"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrChecksum):
		text = "incorrect data check"
	case errors.As(err, &corrupt):
		text = "invalid stored block lengths"
	}
	return &engine.Error{Name: "Error", Message: text, Props: []engine.Field{{Name: "errno", Value: number}, {Name: "code", Value: code}}}
}
