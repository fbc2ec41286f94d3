package deflate_test

import (
	"bufio"
	"bytes"
	stdflate "compress/flate"
	"compress/gzip"
	"compress/zlib"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/deflate"
)

// random is the generator that made testdata/node.txt.
type random uint32

func (r *random) below(n int) int {
	*r = *r*1664525 + 1013904223
	return int(math.Floor(float64(*r) / (1 << 32) * float64(n)))
}

func words(n int) []byte {
	r := random(1)
	list := make([]string, 300)
	for i := range list {
		for left := 2 + r.below(8); left > 0; left-- {
			list[i] += string(rune('a' + r.below(26)))
		}
	}
	var text []byte
	for len(text) < n {
		text = append(append(text, list[r.below(len(list))]...), ' ')
	}
	return text[:n]
}

func noise(n int) []byte {
	r, out := random(2), make([]byte, n)
	for i := range out {
		out[i] = byte(r.below(256))
	}
	return out
}

func inputs() map[string][]byte {
	const twice = "a sentence of forty-nine bytes, with a comma, etc."
	return map[string][]byte{
		"empty": nil, "letter": []byte("a"), "sentence": []byte("The quick brown fox jumps over the lazy dog."),
		"twice": []byte(twice[:49] + twice[:49]), "zeros": make([]byte, 1<<20), "words": words(200_000), "noise": noise(70_000),
		"mixed": bytes.Join([][]byte{words(40_000), noise(40_000), words(40_000)}, nil),
	}
}

// TestNode compares the output with that of Node.js 20, which is also workerd's, in one piece and in many: a line of
// node.txt has the format, the input, the options, the length, and the begin of the SHA-256.
func TestNode(t *testing.T) {
	file, err := os.Open("testdata/node.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	all := inputs()
	formats := map[string]deflate.Format{"raw": deflate.Raw, "zlib": deflate.Zlib, "gzip": deflate.Gzip}
	for lines := bufio.NewScanner(file); lines.Scan(); {
		field := strings.Fields(lines.Text())
		o := deflate.Options{Level: -1, Format: formats[field[0]]}
		for option := range strings.SplitSeq(field[2], ",") {
			name, text, _ := strings.Cut(option, "=")
			n, _ := strconv.Atoi(text)
			switch name {
			case "level":
				o.Level = n
			case "strategy":
				o.Strategy = n
			case "memLevel":
				o.MemLevel = n
			case "windowBits":
				o.WindowBits = n
			case "dictionary":
				o.Dictionary = all["words"][100:][:n]
			}
		}
		for _, piece := range []int{1 << 30, 1000} {
			var out bytes.Buffer
			w, err := deflate.NewWriter(&out, o)
			if err != nil {
				t.Fatal(err)
			}
			compress(t, w, all[field[1]], piece)
			sum := sha256.Sum256(out.Bytes())
			if got := fmt.Sprintf("%d %s", out.Len(), hex.EncodeToString(sum[:8])); got != field[3]+" "+field[4] {
				t.Errorf("%s in pieces of %d: %s", lines.Text(), piece, got)
			}
		}
	}
}

func compress(t *testing.T, w *deflate.Writer, in []byte, piece int) {
	t.Helper()
	for len(in) > 0 {
		n := min(piece, len(in))
		if _, err := w.Write(in[:n]); err != nil {
			t.Fatal(err)
		}
		in = in[n:]
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// A reader gets flushed bytes at once, a change of level or strategy keeps the stream, and a reset writer writes the same again.
func TestFlushAndParameters(t *testing.T) {
	in := inputs()["mixed"]
	var out bytes.Buffer
	w, err := deflate.NewWriter(&out, deflate.Options{Format: deflate.Zlib, Level: 6})
	if err != nil {
		t.Fatal(err)
	}
	step := len(in) / 10
	for i := range 10 {
		if err := w.SetParameters(i%10, i%5); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write(in[i*step:][:step]); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(w.Flush(), w.Flush()); err != nil {
			t.Fatal(err)
		}
		r, err := zlib.NewReader(bytes.NewReader(out.Bytes()))
		if err != nil {
			t.Fatal(err)
		}
		got, err := io.ReadAll(r)
		if !errors.Is(err, io.ErrUnexpectedEOF) || !bytes.Equal(got, in[:(i+1)*step]) {
			t.Fatalf("after %d pieces %d of %d bytes, %v", i+1, len(got), (i+1)*step, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	r, err := zlib.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, in[:10*step]) {
		t.Fatalf("%d bytes, %v", len(got), err)
	}
}

func TestReset(t *testing.T) {
	in := inputs()["words"]
	var first, second bytes.Buffer
	w, err := deflate.NewWriter(&first, deflate.Options{Level: 6, Format: deflate.Gzip})
	if err != nil {
		t.Fatal(err)
	}
	compress(t, w, in, 7000)
	w.Reset(&second)
	compress(t, w, in, 100_000)
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("the second stream differs")
	}
	r, err := gzip.NewReader(&second)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := io.ReadAll(r); err != nil || !bytes.Equal(got, in) {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	if _, err := w.Write(in); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("after the end: %v", err)
	}
}

func TestOptions(t *testing.T) {
	for _, o := range []deflate.Options{{Level: 10}, {Level: -2}, {Strategy: 5}, {MemLevel: 10}, {WindowBits: 16}, {WindowBits: 7}} {
		if _, err := deflate.NewWriter(io.Discard, o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

// FuzzWriter: the output reads back as the input, in any pieces and at any level.
func FuzzWriter(f *testing.F) {
	f.Add([]byte("abcabcabcabc"), byte(6), byte(0), byte(8), uint16(5))
	f.Add(words(3000), byte(1), byte(4), byte(1), uint16(100))
	f.Add(noise(3000), byte(0), byte(3), byte(9), uint16(2))
	f.Fuzz(func(t *testing.T, in []byte, level, strategy, memory byte, piece uint16) {
		var out bytes.Buffer
		w, err := deflate.NewWriter(&out, deflate.Options{
			Level: int(level % 10), Strategy: int(strategy % 5), MemLevel: 1 + int(memory%9), WindowBits: 9 + int(memory%7),
		})
		if err != nil {
			t.Fatal(err)
		}
		compress(t, w, in, int(piece)+1)
		if got, err := io.ReadAll(stdflate.NewReader(&out)); err != nil || !bytes.Equal(got, in) {
			t.Fatalf("%d of %d bytes, %v", len(got), len(in), err)
		}
	})
}

func BenchmarkWriter(b *testing.B) {
	in := bytes.Repeat(words(200_000), 6)[:1<<20]
	for _, level := range []int{1, 6, 9} {
		b.Run(strconv.Itoa(level), func(b *testing.B) {
			b.SetBytes(int64(len(in)))
			w, err := deflate.NewWriter(io.Discard, deflate.Options{Level: level})
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				w.Reset(io.Discard)
				if _, err := w.Write(in); err != nil {
					b.Fatal(err)
				}
				if err := w.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
