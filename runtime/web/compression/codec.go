package compression

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"iter"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"

	"github.com/pages-toolchain/pages/runtime/deflate"
	"github.com/pages-toolchain/pages/runtime/engine"
)

type codec interface {
	// step takes a piece, or nil, and returns the next output, which is valid until the next step;
	// nil if it needs more input.
	step(in []byte, how kind) ([]byte, error)
	close()
}

// kind is the operation after a step's piece.
type kind int

const (
	stepMore  kind = iota // other pieces follow
	stepLast              // none does
	stepFlush             // more input follows, but the output so far can already be decompressed
)

// Compressor is implemented by the writers of all formats.
type Compressor = interface {
	io.WriteCloser
	Flush() error
}

type compressWriter interface {
	Compressor
	Reset(w io.Writer)
}

// compressWriters are writers to be used again, by format: a new one takes longer than compressing
// a short text.
var compressWriters = map[string]*sync.Pool{ //nolint:gochecknoglobals // a cache
	"gzip":        {New: func() any { return valid(gzip.NewWriterLevel(nil, deflateLevel)) }},
	"deflate":     {New: func() any { return valid(zlib.NewWriterLevel(nil, deflateLevel)) }},
	"deflate-raw": {New: func() any { return valid(flate.NewWriter(nil, deflateLevel)) }},
	"brotli":      {New: func() any { return brotli.NewWriterLevel(nil, brotliLevel) }},
}

// Compression levels: zlib's own default, and the usual one of servers for brotli.
const (
	deflateLevel = 6
	brotliLevel  = 5
)

// valid panics for a level that does not exist.
func valid[W any](w W, err error) W {
	if err != nil {
		panic(err)
	}
	return w
}

// exactWriters are those of streams that a Worker reads: their bytes are those of zlib in production, for which they take three
// times as long.
var exactWriters = map[string]*sync.Pool{ //nolint:gochecknoglobals // a cache
	"gzip":        {New: func() any { return valid(deflate.NewWriter(nil, deflate.Options{Level: -1, Format: deflate.Gzip})) }},
	"deflate":     {New: func() any { return valid(deflate.NewWriter(nil, deflate.Options{Level: -1, Format: deflate.Zlib})) }},
	"deflate-raw": {New: func() any { return valid(deflate.NewWriter(nil, deflate.Options{Level: -1})) }},
	"brotli":      compressWriters["brotli"],
}

// openExact is openWriter for exactWriters.
func openExact(format string, w io.Writer) (cw compressWriter, done func()) {
	pool := exactWriters[format]
	cw, _ = pool.Get().(compressWriter)
	cw.Reset(w)
	return cw, func() {
		cw.Reset(io.Discard)
		pool.Put(cw)
	}
}

// openWriter returns a writer that compresses to w; done releases it.
func openWriter(format string, w io.Writer) (cw compressWriter, done func()) {
	pool := compressWriters[format]
	cw, _ = pool.Get().(compressWriter)
	cw.Reset(w)
	if gz, ok := cw.(*gzip.Writer); ok {
		const unix = 3
		gz.ModTime, gz.OS = time.Unix(0, 0), unix // no time (RFC 1952, 2.3.1), and not the overflow of year 1
	}
	return cw, func() {
		cw.Reset(io.Discard)
		pool.Put(cw)
	}
}

type compressor struct {
	w    Compressor
	done func()
	out  bytes.Buffer
	held bool // out goes together with the next piece
}

func (c *compressor) step(in []byte, how kind) ([]byte, error) {
	if !c.held {
		c.out.Reset()
	}
	if c.w == nil {
		return nil, nil
	}
	if _, err := c.w.Write(in); err != nil {
		return nil, err
	}
	switch how {
	case stepLast:
		if err := c.w.Close(); err != nil {
			return nil, err
		}
		c.close()
	case stepFlush:
		if err := c.w.Flush(); err != nil {
			return nil, err
		}
	case stepMore:
	}
	if c.held = how == stepMore && c.out.Len() <= longestHead; c.held || c.out.Len() == 0 {
		return nil, nil
	}
	return c.out.Bytes(), nil
}

// longestHead is the size of gzip's header. A header alone does not make a chunk: code for the platform may assume that the first chunk of
// a short text is all of it.
const longestHead = 10

func (c *compressor) close() {
	if c.w != nil {
		c.done()
		c.w = nil
	}
}

type decoding struct {
	// open opens the decoder, which ends with io.EOF where its data does.
	open func(*bufio.Reader) (io.Reader, error)
	// failure turns an error of the decoder into the stream's; nil for none.
	failure func(error) error
	// alone refuses bytes after the end of the data, which are ignored otherwise.
	alone bool
}

// decompressor feeds chunks to a decoder that asks for input: the decoder runs on a separate goroutine, and stops when it needs more.
type decompressor struct {
	decoding

	in   []byte
	last bool
	// rest is the number of bytes after the end of the data; negative before it.
	rest int
	next func() ([]byte, error, bool)
	stop func()
	// spent is the CPU time of the last step, on another thread.
	spent time.Duration
}

var (
	errTrailing = engine.TypeError("Trailing bytes after end of compressed data")
	errCutShort = engine.TypeError("Called close() on a decompression stream with incomplete data")
	errStopped  = errors.New("the stream was closed")
)

func newDecompressor(how decoding) *decompressor {
	d := &decompressor{decoding: how, rest: -1}
	d.next, d.stop = pull(d.run, func(t time.Duration) { d.spent = t })
	return d
}

func (d *decompressor) step(in []byte, how kind) ([]byte, error) {
	if in != nil {
		d.in = in
	}
	d.last, d.spent = d.last || how == stepLast, 0
	out, err, more := d.next()
	if !more {
		return nil, nil
	}
	return out, err
}

func (d *decompressor) close() { d.stop() }

// run yields chunks of output, nil when it needs input, and at most one error.
func (d *decompressor) run(yield func([]byte, error) bool) {
	source := bufio.NewReaderSize(&fedReader{d, func() bool { return yield(nil, nil) }}, 4<<10)
	r, err := d.open(source)
	if c, ok := r.(io.Closer); ok {
		defer c.Close()
	}
	buf := make([]byte, codecPiece)
	for err == nil {
		var n int
		n, err = r.Read(buf)
		if n > 0 && !yield(buf[:n], nil) {
			return
		}
	}
	for errors.Is(err, io.EOF) {
		d.rest = max(d.rest, 0) + source.Buffered() + len(d.in)
		if d.alone && d.rest > 0 {
			err = errTrailing
			break
		}
		_, _ = source.Discard(source.Buffered())
		d.in = nil
		if d.last || !yield(nil, nil) {
			return
		}
	}
	if errors.Is(err, errStopped) {
		return
	}
	if err = d.failure(err); err != nil {
		yield(nil, err)
	}
}

// openReader opens a decoder. Input that ends within the head is truncated data.
func openReader(format string, source *bufio.Reader) (r io.Reader, err error) {
	switch format {
	case "gzip":
		var zr *gzip.Reader
		if zr, err = gzip.NewReader(source); err == nil {
			zr.Multistream(false)
			r = zr
		}
	case "deflate":
		r, err = zlib.NewReader(source)
	case "deflate-raw":
		r = flate.NewReader(source)
	default:
		r = brotli.NewReader(source)
	}
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return r, err
}

type fedReader struct {
	d    *decompressor
	wait func() bool // false when nothing will come
}

// Read implements io.Reader.
func (f *fedReader) Read(p []byte) (int, error) {
	for len(f.d.in) == 0 {
		if f.d.last {
			return 0, io.EOF
		}
		if !f.wait() {
			return 0, errStopped
		}
	}
	n := copy(p, f.d.in)
	f.d.in = f.d.in[n:]
	return n, nil
}

// pull is iter.Pull2 on a goroutine of its own: a coroutine must stay on a locked thread that
// created it, and each turn locks its own thread. next passes a panic of seq on. stop waits until
// seq has returned. spent gets the CPU time of seq, before next returns the value.
func pull(seq iter.Seq2[[]byte, error], spent func(time.Duration)) (next func() ([]byte, error, bool), stop func()) {
	type piece struct {
		bytes []byte
		err   error
	}
	var panicked any
	wanted, given, over := make(chan struct{}), make(chan piece), false
	go func() {
		defer close(given)
		defer func() { panicked = recover() }()
		if _, ok := <-wanted; !ok {
			return
		}
		took := engine.Busy()
		for b, err := range seq {
			spent(took())
			given <- piece{b, err}
			if _, ok := <-wanted; !ok {
				return
			}
			took = engine.Busy()
		}
		spent(took())
	}()
	next = func() ([]byte, error, bool) {
		if over {
			return nil, nil, false
		}
		wanted <- struct{}{}
		if p, ok := <-given; ok {
			return p.bytes, p.err, true
		}
		over = true
		if panicked != nil {
			panic(panicked)
		}
		return nil, nil, false
	}
	stop = func() {
		if !over {
			over = true
			close(wanted)
			<-given
		}
	}
	return next, stop
}
