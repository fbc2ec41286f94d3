package node

import (
	"bufio"
	"bytes"
	"errors"
	"hash/crc32"
	"io"
	"math/bits"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"

	"github.com/pages-toolchain/pages/runtime/deflate"
	"github.com/pages-toolchain/pages/runtime/engine"
)

func zlibOperations(coders Coders) map[string]operation {
	return map[string]operation{
		// zlib_compress(format, view, level, window bits, dictionary or null, async, checksum, strategy, memory level) -> bytes
		"zlib_compress": func(c *engine.Call) (any, error) {
			z := codec{
				format: c.String(1), input: c.Bytes(2), level: int(c.Int(3)), window: int(c.Int(4)), dictionary: c.Bytes(5),
				checksum: c.Bool(7), strategy: int(c.Int(8)), memLevel: int(c.Int(9)),
			}
			async, out := c.Bool(6), c.Buffer(engine.MaxOutside, nil)
			if err := c.Reserve(z.cost()); err != nil {
				return nil, err
			}
			return offload(c, async, func() (any, error) { return out, z.compress(out) })
		},
		// zlib_expand(format, view, most bytes out, dictionary or null, whole, async) -> bytes
		"zlib_expand": func(c *engine.Call) (any, error) {
			z := codec{format: c.String(1), input: c.Bytes(2), most: c.Int(3), dictionary: c.Bytes(4), whole: c.Bool(5)}
			async := c.Bool(6)
			out := c.Buffer(z.most, newError("RangeError", "ERR_BUFFER_TOO_LARGE", "Cannot create a Buffer larger than %d bytes", z.most))
			return offload(c, async, func() (any, error) { return out, z.expand(out) })
		},
		// zlib_compressor(format, level, window bits, dictionary or null, checksum, strategy, memory level) -> id of a coder
		"zlib_compressor": func(c *engine.Call) (any, error) {
			z := codec{
				format: c.String(1), level: int(c.Int(2)), window: int(c.Int(3)), dictionary: c.Bytes(4), checksum: c.Bool(5),
				strategy: int(c.Int(6)), memLevel: int(c.Int(7)),
			}
			return coders.OpenCompressor(c, z.cost(), z.writer)
		},
		// zlib_level(id, level, strategy) applies to the following input
		"zlib_level": func(c *engine.Call) (any, error) {
			level, strategy := int(c.Int(2)), int(c.Int(3))
			return engine.Undefined, coders.Compressor(c, c.Int(1), func(w compressor) error {
				if d, ok := w.(*deflate.Writer); ok {
					return d.SetParameters(level, strategy)
				}
				return nil
			})
		},
		// zlib_expander(format, dictionary or null, whole) -> id of a coder
		"zlib_expander": func(c *engine.Call) (any, error) {
			z := codec{format: c.String(1), dictionary: c.Bytes(2), whole: c.Bool(3)}
			return coders.OpenDecompressor(c, z.history(), z.reader, z.libraryError)
		},
		// crc32(view, value) -> number
		"crc32": func(c *engine.Call) (any, error) {
			value := uint32(c.Int(2))
			return int64(crc32.Update(value, crc32.IEEETable, c.View(1))), nil
		},
	}
}

// codec compresses or decompresses: for a function of node:zlib, whose input is complete and whose output is bounded, or for a
// stream, which Coders keeps.
type codec struct {
	format     string // gzip, deflate, raw, unzip, brotli, zstd
	input      []byte // of a function
	dictionary []byte
	level      int
	strategy   int   // zlib's
	memLevel   int   // zlib's
	window     int   // brotli's and zlib's, in bits
	checksum   bool  // zstd's
	most       int64 // bytes out
	whole      bool  // an input that ends early is an error
}

func (z codec) compress(out io.Writer) error {
	w, err := z.writer(out)
	if err != nil {
		return err
	}
	if _, err := w.Write(z.input); err != nil {
		return err
	}
	return w.Close()
}

type compressor = interface {
	io.WriteCloser
	Flush() error
}

func (z codec) writer(out io.Writer) (w compressor, err error) {
	switch z.format {
	case "gzip", "deflate", "raw":
		w, err = deflate.NewWriter(out, deflate.Options{
			Format: map[string]deflate.Format{"gzip": deflate.Gzip, "deflate": deflate.Zlib, "raw": deflate.Raw}[z.format],
			Level:  z.level, Strategy: z.strategy, MemLevel: z.memLevel, WindowBits: z.window, Dictionary: z.dictionary,
		})
	case "brotli":
		w = brotli.NewWriterOptions(out, brotli.WriterOptions{Quality: z.level, LGWin: z.fitWindow().window})
	case "zstd":
		w, err = z.zstdWriter(out)
	default:
		err = errors.New("there is no format " + z.format)
	}
	if err != nil {
		return nil, newError("RangeError", "ERR_OUT_OF_RANGE", "the compression cannot be set up: %v", err)
	}
	return w, nil
}

func (z codec) expand(out *engine.Buffer) error {
	r, err := z.reader(bufio.NewReader(bytes.NewReader(z.input)))
	if err != nil {
		return z.libraryError(err)
	}
	_, err = out.ReadFrom(r)
	if _, ours := errors.AsType[*engine.Error](err); err == nil || ours {
		return err
	}
	return z.libraryError(err)
}

func isEarlyEnd(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) }

// reader does not read past the end of the data, except for further members of gzip.
func (z codec) reader(in *bufio.Reader) (r io.Reader, err error) {
	if z.format == "unzip" {
		z.format = "deflate"
		if isGzip(in) {
			z.format = "gzip"
		}
	}
	switch z.format {
	case "gzip":
		return &gzipMembers{in: in}, nil
	case "deflate":
		r, err = zlib.NewReaderDict(in, z.dictionary)
	case "raw":
		r = flate.NewReaderDict(in, z.dictionary)
	case "brotli":
		r = brotliReader{brotli.NewReader(in)}
	case "zstd":
		r, err = z.zstdReader(in)
	default:
		err = errors.New("there is no format " + z.format)
	}
	return r, earlyEnd(err)
}

// earlyEnd is err, but io.EOF, the end before a head, as io.ErrUnexpectedEOF.
func earlyEnd(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// isGzip peeks at the head, and waits for the second byte only if the first is gzip's.
func isGzip(in *bufio.Reader) bool {
	const first, second = 0x1f, 0x8b
	if head, _ := in.Peek(1); len(head) < 1 || head[0] != first {
		return false
	}
	head, _ := in.Peek(2)
	return len(head) == 2 && head[1] == second
}

// brotliReader ends where its data does, and ignores trailing bytes.
type brotliReader struct{ *brotli.Reader }

// Read implements io.Reader.
func (u brotliReader) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	if err != nil && err.Error() == "brotli: excessive input" { // which has no name
		err = io.EOF
	}
	return n, err
}

// gzipMembers reads the members of a gzip file in order. Zeros may follow the last.
type gzipMembers struct {
	in *bufio.Reader
	z  *gzip.Reader
}

// Read implements io.Reader. It returns the bytes at hand before it waits for another member.
func (m *gzipMembers) Read(p []byte) (int, error) {
	for {
		if m.z == nil {
			if err := m.next(); err != nil {
				return 0, err
			}
		}
		n, err := m.z.Read(p)
		if n > 0 && errors.Is(err, io.EOF) {
			return n, nil
		}
		if !errors.Is(err, io.EOF) {
			return n, err
		}
		if head, _ := m.in.Peek(1); len(head) == 0 || head[0] == 0 {
			return 0, io.EOF
		}
		m.z = nil
	}
}

func (m *gzipMembers) next() (err error) {
	if _, err := m.in.Peek(1); err != nil {
		return earlyEnd(err)
	}
	if _, err := m.in.Peek(2); err == nil && !isGzip(m.in) {
		return gzip.ErrHeader
	}
	if m.z, err = gzip.NewReader(m.in); err != nil {
		return earlyEnd(err)
	}
	m.z.Multistream(false)
	return nil
}

// libraryError returns the error that zlib's or brotli's own library would give; nil if the data may end early.
func (z codec) libraryError(err error) error {
	if isEarlyEnd(err) && !z.whole {
		return nil
	}
	code, number, text := "Z_DATA_ERROR", -3, "incorrect header check"
	var corrupt flate.CorruptInputError
	switch {
	case z.format == "zstd":
		code, number, text = zstdFailure(err)
	case z.format == "brotli" && isEarlyEnd(err):
		code, number, text = "Z_BUF_ERROR", -5, "unexpected end of file"
	case z.format == "brotli":
		code, number, text = "ERR__ERROR_FORMAT_PADDING_1", -14, "Decompression failed"
	case isEarlyEnd(err):
		code, number, text = "Z_BUF_ERROR", -5, "unexpected end of file"
	case errors.Is(err, zlib.ErrDictionary) && z.dictionary == nil:
		code, number, text = "Z_NEED_DICT", 2, "Missing dictionary"
	case errors.Is(err, zlib.ErrDictionary):
		code, number, text = "Z_NEED_DICT", 2, "Bad dictionary"
	case errors.Is(err, gzip.ErrChecksum), errors.Is(err, zlib.ErrChecksum):
		text = "incorrect data check"
	case errors.As(err, &corrupt):
		text = "invalid stored block lengths"
	}
	return &engine.Error{Name: "Error", Message: text, Props: []engine.Field{{Name: "errno", Value: number}, {Name: "code", Value: code}}}
}

// brotli keeps a tree of eight bytes for each byte of its window at its two best qualities.
const (
	treeQuality   = 10 // the lower of the two
	maxTreeWindow = 22 // bits of the widest window there
)

// cost is the memory of a compressor in bytes, beside its input and output, as its package allocates it.
func (z codec) cost() int64 {
	switch z.format {
	case "brotli":
		z = z.fitWindow()
		const tree, ring = 8 + 2, 4 // bytes for each of the window
		if z.level >= treeQuality {
			return (tree+ring)<<z.window + 2<<20
		}
		const fewest, table = 4, 4 << 14 // of quality 5 and more: quality-1 bits a bucket
		return ring<<z.window + table<<max(z.level, fewest)
	case "zstd":
		const better, best = 6, 10 // the first levels of other encoders
		switch {
		case z.level >= best:
			return 44 << 20
		case z.level >= better:
			return 14 << 20
		}
		return 8 << 20
	}
	return 1 << 20
}

// fitWindow returns the codec with the smallest sufficient window.
func (z codec) fitWindow() codec {
	const least, usual = 10, 22
	if z.window == 0 {
		z.window = usual
	}
	if z.level >= treeQuality {
		z.window = min(z.window, maxTreeWindow)
	}
	if z.input != nil {
		z.window = max(least, min(z.window, bits.Len(uint(len(z.input)))))
	}
	return z
}

// history is the maximum memory of a decompressor, which grows with its output.
func (z codec) history() int64 {
	switch z.format {
	case "brotli":
		return 1 << 24
	case "zstd":
		return maxZstdWindow
	}
	return 0
}
