// Package compression is CompressionStream, DecompressionStream and the content codings of HTTP.
//
// In: pieces of a stream, from JavaScript; bodies of requests and responses, from packages of this
// tree. Out: the pieces that come of them, within the isolate's turn and on its CPU time. Errors:
// exceptions of JavaScript for data that is not in the format, and for streams beyond the bounds.
// The streams of node:zlib, whose formats are that package's, are among them.
//
// A [Host] and [Streams] are safe for concurrent use. The package never keeps more of a stream than
// one piece of its input and one of its output, beside the history of its format.
package compression

import (
	"bufio"
	"errors"
	"io"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web/iocontext"
)

const (
	// codecPiece is the limit of one step's output, in bytes.
	codecPiece = 64 << 10
	// maxCodecs is the limit of a request's open streams: one that compresses takes about a megabyte.
	maxCodecs = 100
	// encoderCost and decoderCost are the memory of a stream.
	encoderCost, decoderCost = 1 << 20, 128 << 10
	// brotliHistory is the largest window of the format (RFC 7932, 9.1).
	brotliHistory = 1 << 24
)

// Streams are the open streams of a request. The zero value works; the isolate's goroutine uses them, and the goroutine that ends the
// request closes them.
type Streams struct {
	mu     sync.Mutex
	open   map[int64]*openCodec
	closed bool
}

type openCodec struct {
	codec
	release []func() // of the memory that is counted
	// history is the memory that its output may still need.
	history int64
}

func (o *openCodec) close() {
	o.codec.close()
	for _, release := range o.release {
		release()
	}
}

const historyStep = 1 << 20 // the history is reserved in such steps

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

// add opens a stream that takes cost bytes, and up to history bytes more with its output, and keeps
// it under id.
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

// step runs a step of a stream. The last one, and an error, close it. The CPU time of another
// thread counts as the call's.
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
	if n := min(int64(len(out)), c.history); err == nil && n > 0 { // the stream's window of its output
		before := c.history
		c.history -= n
		if steps := (before+historyStep-1)/historyStep - (c.history+historyStep-1)/historyStep; steps > 0 {
			err = c.hold(call, steps*historyStep)
		}
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
	// nextID returns the ids of streams for JavaScript.
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

// streams are those of the request on whose behalf c was called, or of the module while it is
// evaluated: the streams of node:zlib work there too, on the platform as here.
func (h *Host) streams(c *engine.Call) *Streams {
	if open, err := h.open(c); err == nil {
		return open
	}
	return &h.loading
}

// Loaded is called after the evaluation of the module. It closes streams that the module left open:
// isolates that start from its image do not have them.
func (h *Host) Loaded() { h.loading.Close() }

// Compressor calls do with the writer of OpenCompressor, if it is still open. Its output is returned with the next chunk.
func (h *Host) Compressor(c *engine.Call, id int64, do func(Compressor) error) error {
	cs := h.streams(c)
	cs.mu.Lock()
	defer cs.mu.Unlock()
	o := cs.open[id]
	if o == nil {
		return nil
	}
	z, ok := o.codec.(*compressor)
	if !ok || z.w == nil {
		return nil
	}
	if !z.held {
		z.out.Reset()
		z.held = true
	}
	return do(z.w)
}

// OpenCompressor opens a stream of the request on whose behalf c was called, which takes cost bytes
// of memory, and returns its id for JavaScript.
func (h *Host) OpenCompressor(c *engine.Call, cost int64, open func(io.Writer) (Compressor, error)) (int64, error) {
	id := h.nextID()
	return id, h.streams(c).add(c, id, cost, 0, func() (codec, error) {
		z := &compressor{done: func() {}}
		var err error
		z.w, err = open(&z.out)
		return z, err
	})
}

// OpenDecompressor is OpenCompressor for one that decompresses; it takes as much memory as its
// output, up to history.
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
			if !decompress {
				return id, streams.add(c, id, encoderCost, 0, func() (codec, error) {
					z := &compressor{}
					z.w, z.done = openExact(format, &z.out)
					return z, nil
				})
			}
			history := int64(0)
			if format == "brotli" {
				history = brotliHistory
			}
			return id, streams.add(c, id, decoderCost, history, func() (codec, error) {
				return newDecompressor(decoding{
					open:  func(source *bufio.Reader) (io.Reader, error) { return openReader(format, source) },
					alone: true,
					failure: func(err error) error {
						switch {
						case errors.Is(err, io.ErrUnexpectedEOF):
							return errCutShort
						case errors.Is(err, errTrailing):
							return err
						}
						return engine.TypeError("Decompression failed: %v", err)
					},
				}), nil
			})
		},
		// codec_step(id, view or null, kind) -> bytes, or null at the end; the caller repeats the last step until then
		"codec_step": func(c *engine.Call) (any, error) {
			id, how := c.Int(0), kind(c.Int(2))
			return h.streams(c).step(c, id, c.Bytes(1), how)
		},
		// codec_rest(id) -> number of bytes after the end of the compressed stream; negative
		// before it
		"codec_rest": func(c *engine.Call) (any, error) {
			streams := h.streams(c)
			streams.mu.Lock()
			defer streams.mu.Unlock()
			if o := streams.open[c.Int(0)]; o != nil {
				if d, ok := o.codec.(*decompressor); ok {
					return int64(d.rest), nil
				}
			}
			return int64(-1), nil
		},
		// codec_close(id)
		"codec_close": func(c *engine.Call) (any, error) {
			streams, id := h.streams(c), c.Int(0)
			streams.mu.Lock()
			defer streams.mu.Unlock()
			if o := streams.open[id]; o != nil {
				o.close()
				delete(streams.open, id)
			}
			return engine.Undefined, nil
		},
	}
}
