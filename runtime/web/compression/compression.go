// Package compression is CompressionStream, DecompressionStream and the content codings of
// HTTP.
//
// In: pieces of a stream, from JavaScript; bodies of requests and responses, from packages of
// this tree. Out: the pieces that come of them, within the isolate's turn and on its CPU time.
// Errors: exceptions of JavaScript for data that is not in the format, and for streams beyond
// the bounds.
//
// A [Host] and [Streams] are safe for concurrent use. The package never keeps more of a stream
// than one piece of its input and one of its output, beside the history of its format.
package compression

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"sync"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zlib"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

// This file is the Go half of CompressionStream and DecompressionStream, and of
// the streams of node:zlib, whose formats are that package's.
// JavaScript gives a piece and asks for what comes of it, piece by piece, so that
// no more is there at a time than one of each; all of it is done within the
// isolate's turn and counts as its CPU time.

const (
	// codecPiece is the most that one step gives, in bytes.
	codecPiece = 64 << 10
	// maxCodecs is how many streams a request may have open: one that compresses
	// takes about a megabyte.
	maxCodecs = 100
	// What a stream takes: one that compresses, one that does not.
	encoderCost, decoderCost = 1 << 20, 128 << 10
	// brotliHistory is the most that its format has a decoder remember (RFC 7932, 9.1).
	brotliHistory = 1 << 24
)

// codec is an open stream.
type codec interface {
	// step takes a piece, or nil, and says what is to come of it. The result is
	// valid until the next step; nil when there is nothing more without more input.
	step(in []byte, how kind) ([]byte, error)
	close()
}

// kind is what a step is besides its piece.
type kind int

const (
	stepMore  kind = iota // other pieces follow
	stepLast              // none does
	stepFlush             // others do, and what there is can be decompressed before
)

func newCodec(format string, decompress bool) codec {
	if decompress {
		open := func(source *bufio.Reader) (io.Reader, error) { return openReader(format, source) }
		return newDecompressor(decoding{open: open, failure: refuse, alone: true})
	}
	c := &compressor{}
	c.w, c.done = openWriter(format, &c.out)
	return c
}

// Compressor is what the writers of all formats can.
type Compressor = interface {
	io.WriteCloser
	Flush() error
}

// compressWriter is one that is used again.
type compressWriter interface {
	Compressor
	Reset(w io.Writer)
}

// compressWriters are writers to be used again, by format: a new one takes
// longer than compressing a short text.
var compressWriters = map[string]*sync.Pool{ //nolint:gochecknoglobals // a cache
	"gzip":        {New: func() any { return valid(gzip.NewWriterLevel(nil, deflateLevel)) }},
	"deflate":     {New: func() any { return valid(zlib.NewWriterLevel(nil, deflateLevel)) }},
	"deflate-raw": {New: func() any { return valid(flate.NewWriter(nil, deflateLevel)) }},
	"brotli":      {New: func() any { return brotli.NewWriterLevel(nil, brotliLevel) }},
}

// The levels for what is compressed while somebody waits: zlib's own default, and
// what servers use of brotli.
const (
	deflateLevel = 6
	brotliLevel  = 5
)

// valid is the writer of a level that there is.
func valid[W any](w W, err error) W {
	if err != nil {
		panic(err)
	}
	return w
}

// openWriter returns a writer that compresses to w; done gives it back.
func openWriter(format string, w io.Writer) (cw compressWriter, done func()) {
	pool := compressWriters[format]
	cw, _ = pool.Get().(compressWriter)
	cw.Reset(w)
	if gz, ok := cw.(*gzip.Writer); ok {
		const unix = 3
		gz.ModTime, gz.OS = time.Unix(0, 0), unix // no time (RFC 1952, 2.3.1), and not what that of year 1 overflows to
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
	held bool // whether out is to be given together with what follows
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

// longestHead is the size of gzip's header. A header alone is no piece: code for
// the platform may take the first piece of a short text for the whole of it.
const longestHead = 10

func (c *compressor) close() {
	if c.w != nil {
		c.done()
		c.w = nil
	}
}

// decoding is how a stream is decompressed.
type decoding struct {
	// open opens the decoder, which ends with io.EOF where its data does.
	open func(*bufio.Reader) (io.Reader, error)
	// failure is the error for one of the decoder's; nil when that is no failure.
	failure func(error) error
	// alone refuses bytes after the end of the data, which are else left out.
	alone bool
}

// decompressor turns a decoder, which asks for input, into one that is given it:
// the decoder runs beside, and stops where it needs more.
type decompressor struct {
	decoding

	in   []byte
	last bool
	// rest is how many bytes came after the end of the data; negative before it.
	rest int
	next func() ([]byte, error, bool)
	stop func()
	// spent is the CPU time of the last step, which was another thread's.
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

// run yields pieces of output, nil where it needs input, and an error at most
// once.
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

// refuse is the error of a DecompressionStream.
func refuse(err error) error {
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return errCutShort
	case errors.Is(err, errTrailing):
		return err
	}
	return engine.TypeError("Decompression failed: %v", err)
}

// openReader opens a decoder. The end of the input before its head is the end
// of truncated data.
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

// fedReader reads what the decompressor is given, and waits for it.
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

// Streams are the open streams of a request. The zero value works; they are used
// by the isolate's goroutine, and closed by the one that ends the request.
type Streams struct {
	mu     sync.Mutex
	open   map[int64]*openCodec
	closed bool
}

// openCodec is a stream and what it takes.
type openCodec struct {
	codec
	release []func() // of the memory that is counted
	// history is how much it may come to take yet as it gives more.
	history int64
}

func (o *openCodec) close() {
	o.codec.close()
	for _, release := range o.release {
		release()
	}
}

// historyStep is how much at a time is counted of what a stream has to remember.
const historyStep = 1 << 20

// hold counts n bytes for as long as the stream is open.
func (o *openCodec) hold(c *engine.Call, n int64) error {
	if err := c.Reserve(n); err != nil {
		return err
	}
	release, err := c.Keep()
	if err == nil {
		o.release = append(o.release, release)
	}
	return err
}

// gave counts what the stream remembers of the n bytes that it gave.
func (o *openCodec) gave(c *engine.Call, n int) error {
	n = int(min(int64(n), o.history))
	if n == 0 {
		return nil
	}
	before := o.history
	o.history -= int64(n)
	if steps := (before+historyStep-1)/historyStep - (o.history+historyStep-1)/historyStep; steps > 0 {
		return o.hold(c, steps*historyStep)
	}
	return nil
}

// add makes a stream that takes so much memory, and as much as it gives up to history, and
// keeps it under id.
func (cs *Streams) add(c *engine.Call, id, cost, history int64, open func() (codec, error)) error {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if cs.closed {
		return iocontext.ErrRequestOver
	}
	if len(cs.open) >= maxCodecs {
		return &engine.Error{
			Name: "RangeError",
			Message: "this request has 100 CompressionStreams, DecompressionStreams and streams of node:zlib open; " +
				"read them to their end, or cancel them",
		}
	}
	if cs.open == nil {
		cs.open = map[int64]*openCodec{}
	}
	o := &openCodec{history: history}
	if err := o.hold(c, cost); err != nil {
		return err
	}
	var err error
	if o.codec, err = open(); err == nil {
		cs.open[id] = o
		return nil
	}
	for _, release := range o.release {
		release()
	}
	return err
}

// step is a step of one of them. The last one, and an error, closes it. The CPU time of
// another thread is the call's.
func (cs *Streams) step(call *engine.Call, id int64, in []byte, how kind) (any, error) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	c := cs.open[id]
	if c == nil {
		return nil, iocontext.ErrForeign
	}
	out, err := c.step(in, how)
	if d, ok := c.codec.(*decompressor); ok {
		call.AddCPU(d.spent)
	}
	if err == nil {
		err = c.gave(call, len(out))
	}
	if err != nil || how == stepLast && out == nil {
		c.close()
		delete(cs.open, id)
	}
	if err != nil || out == nil {
		return nil, err
	}
	return out, nil
}

// rest is how many bytes came after the end of the data that one of them
// decompresses; negative before it.
func (cs *Streams) rest(id int64) int {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if o := cs.open[id]; o != nil {
		d, ok := o.codec.(*decompressor)
		if !ok {
			return -1
		}
		return d.rest
	}
	return -1
}

// beside does something to one of them that compresses, if it is open. What comes of that
// is given with what follows.
func (cs *Streams) beside(id int64, do func(Compressor) error) error {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	o := cs.open[id]
	if o == nil {
		return nil
	}
	c, ok := o.codec.(*compressor)
	if !ok || c.w == nil {
		return nil
	}
	if !c.held {
		c.out.Reset()
		c.held = true
	}
	return do(c.w)
}

func (cs *Streams) remove(id int64) {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	if c := cs.open[id]; c != nil {
		c.close()
		delete(cs.open, id)
	}
}

// Close closes them all; nothing may be opened any more.
func (cs *Streams) Close() {
	cs.mu.Lock()
	defer cs.mu.Unlock()
	for _, c := range cs.open {
		c.close()
	}
	cs.open, cs.closed = nil, true
}

// Host opens the streams of one Worker.
type Host struct {
	// nextID gives the ids by which JavaScript knows streams.
	nextID func() int64
	// open returns the streams of the request on whose behalf a call is made.
	open func(*engine.Call) (*Streams, error)
	// loading are those of the module, while it is evaluated.
	loading Streams
}

// New returns a Host. An error of open means that no request is served.
func New(nextID func() int64, open func(*engine.Call) (*Streams, error)) *Host {
	return &Host{nextID: nextID, open: open}
}

// streams are those of the request on whose behalf c was called, or of the module while it
// is evaluated: the streams of node:zlib work there too, on the platform as here.
func (h *Host) streams(c *engine.Call) *Streams {
	if open, err := h.open(c); err == nil {
		return open
	}
	return &h.loading
}

// Loaded says that the module is evaluated: what it left open is closed, as isolates that start
// from its image have no part in it.
func (h *Host) Loaded() { h.loading.Close() }

// Compressor has one that OpenCompressor opened, if it still is, do something beside its steps.
func (h *Host) Compressor(c *engine.Call, id int64, do func(Compressor) error) error {
	return h.streams(c).beside(id, do)
}

// OpenCompressor keeps a stream of the request on whose behalf c was called, which takes
// cost bytes of memory, and returns the id by which JavaScript goes on with it.
func (h *Host) OpenCompressor(c *engine.Call, cost int64, open func(io.Writer) (Compressor, error)) (int64, error) {
	id := h.nextID()
	return id, h.streams(c).add(c, id, cost, 0, func() (codec, error) {
		z := &compressor{done: func() {}}
		var err error
		z.w, err = open(&z.out)
		return z, err
	})
}

// OpenDecompressor is the same for one that decompresses, which takes as much as it gave,
// up to history.
func (h *Host) OpenDecompressor(
	c *engine.Call, history int64, open func(*bufio.Reader) (io.Reader, error), failure func(error) error,
) (int64, error) {
	id := h.nextID()
	return id, h.streams(c).add(c, id, decoderCost, history, func() (codec, error) {
		return newDecompressor(decoding{open: open, failure: failure}), nil
	})
}

// Funcs returns the host functions of CompressionStream and DecompressionStream.
func (h *Host) Funcs() map[string]engine.Func {
	return map[string]engine.Func{
		// codec_open(format, decompress) -> id
		"codec_open": func(c *engine.Call) (any, error) {
			streams, err := h.open(c)
			if err != nil {
				return nil, err
			}
			format, decompress := c.String(0), c.Bool(1)
			if compressWriters[format] == nil {
				return nil, engine.TypeError("Unsupported compression format: %q", format)
			}
			id := h.nextID()
			cost, history := int64(encoderCost), int64(0)
			if decompress {
				cost = decoderCost
			}
			if decompress && format == "brotli" {
				history = brotliHistory
			}
			return id, streams.add(c, id, cost, history, func() (codec, error) { return newCodec(format, decompress), nil })
		},
		// codec_step(id, view or null, kind) -> bytes, or null when there is nothing
		// more; the last one is to be repeated until then
		"codec_step": func(c *engine.Call) (any, error) {
			id, how := c.Int(0), kind(c.Int(2))
			return h.streams(c).step(c, id, c.Bytes(1), how)
		},
		// codec_rest(id) -> how many bytes came after the end of what is decompressed;
		// negative before it
		"codec_rest": func(c *engine.Call) (any, error) {
			return int64(h.streams(c).rest(c.Int(0))), nil
		},
		// codec_close(id)
		"codec_close": func(c *engine.Call) (any, error) {
			h.streams(c).remove(c.Int(0))
			return engine.Undefined, nil
		},
	}
}
