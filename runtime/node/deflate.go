package node

import (
	"encoding/binary"
	"hash"
	"hash/adler32"
	"io"
	"slices"

	"github.com/klauspost/compress/flate"
)

const deflateWindow = 32 << 10

// deflater writes deflate data (RFC 1951), alone or framed by zlib (RFC 1950), at a level that may change on the way: the
// packages of these formats keep theirs.
type deflater struct {
	out        io.Writer
	level      int
	dictionary []byte
	framed     bool

	w      *flate.Writer
	window []byte // the last bytes written
	sum    hash.Hash32
	begun  bool // the head is written
}

func newDeflater(z codec, out io.Writer) (*deflater, error) {
	d := &deflater{
		out: out, dictionary: z.dictionary, window: slices.Clone(z.dictionary), framed: z.format == "deflate",
		sum: adler32.New(),
	}
	return d, d.setLevel(z.level)
}

func (d *deflater) setLevel(level int) (err error) {
	if d.w != nil && d.begun {
		if err := d.w.Flush(); err != nil {
			return err
		}
	}
	if d.w, err = flate.NewWriterDict(d.out, level, d.window); err == nil {
		d.level = level
	}
	return err
}

func (d *deflater) begin() error {
	if d.begun {
		return nil
	}
	d.begun = true
	if !d.framed {
		return nil
	}
	const method, withDictionary, check = 0x78 << 8, 1 << 5, 31
	head := uint16(method)
	switch {
	case d.level > 6:
		head |= 3 << 6
	case d.level == 6, d.level == flate.DefaultCompression:
		head |= 2 << 6
	case d.level > 1:
		head |= 1 << 6
	}
	if d.dictionary != nil {
		head |= withDictionary
	}
	text := binary.BigEndian.AppendUint16(nil, head+check-head%check)
	if d.dictionary != nil {
		text = binary.BigEndian.AppendUint32(text, adler32.Checksum(d.dictionary))
	}
	_, err := d.out.Write(text)
	return err
}

// Write implements io.Writer.
func (d *deflater) Write(p []byte) (int, error) {
	if err := d.begin(); err != nil {
		return 0, err
	}
	if d.framed {
		_, _ = d.sum.Write(p) // never fails
	}
	last := p[max(0, len(p)-deflateWindow):]
	d.window = append(slices.Delete(d.window, 0, max(0, min(len(d.window), len(d.window)+len(last)-deflateWindow))), last...)
	return d.w.Write(p)
}

// Flush makes all that was written readable.
func (d *deflater) Flush() error {
	if err := d.begin(); err != nil {
		return err
	}
	return d.w.Flush()
}

// Close writes the rest, and the sum.
func (d *deflater) Close() error {
	if err := d.begin(); err != nil {
		return err
	}
	if err := d.w.Close(); err != nil || !d.framed {
		return err
	}
	_, err := d.out.Write(binary.BigEndian.AppendUint32(nil, d.sum.Sum32()))
	return err
}
