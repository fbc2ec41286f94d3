package main

import (
	"bytes"
	"compress/zlib"
	bits "encoding/binary" // binary is the command here
	"fmt"
	"hash/crc32"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// blackPNG is a square PNG of one colour, of 24 bits a pixel: a file of some 100 KB.
func blackPNG(t *testing.T, side int) string {
	t.Helper()
	var b bytes.Buffer
	b.WriteString("\x89PNG\r\n\x1a\n")
	chunk := func(kind string, content []byte) {
		body := append([]byte(kind), content...)
		b.Write(bits.BigEndian.AppendUint32(nil, uint32(len(content))))
		b.Write(body)
		b.Write(bits.BigEndian.AppendUint32(nil, crc32.ChecksumIEEE(body)))
	}
	head := bits.BigEndian.AppendUint32(bits.BigEndian.AppendUint32(nil, uint32(side)), uint32(side))
	chunk("IHDR", append(head, 8, 2, 0, 0, 0))
	var data bytes.Buffer
	z := zlib.NewWriter(&data)
	for row := make([]byte, 1+3*side); side > 0; side-- {
		if _, err := z.Write(row); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	chunk("IDAT", data.Bytes())
	chunk("IEND", nil)
	return b.String()
}

// TestImagesMemory: for any image that a visitor sends to be made smaller, the process stays below 400 MB, of which images may take 256; a
// small image gets a response, too.
func TestImagesMemory(t *testing.T) {
	testmachine.Unraced(t) // the race detector takes memory, too
	side, each := 4000, 4
	if os.Getenv("PAGES_SOAK") != "" {
		side, each = 9990, 20
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"pages.deploy.json": `{"entry":"w.js","routes":[{"pattern":"/*"}],"bindings":{"images":true}}`,
		"w.js": `export default { async fetch(request, env) {
  const { searchParams } = new URL(request.url), bytes = await request.bytes();
  const one = async () => (await env.IMAGES.input(bytes).transform({ width: +searchParams.get("width") })
    .output({ format: "image/jpeg" })).response();
  const all = await Promise.allSettled(Array.from({ length: +searchParams.get("times") }, one));
  const refused = all.find((o) => o.status === "rejected");
  return refused === undefined ? all[0].value : new Response(refused.reason.message, { status: 413 });
} };`,
	} {
		put(t, filepath.Join(dir, name), text)
	}
	d := startDev(t, dir)
	const most = 400 << 10 // in KB, as the kernel tells it
	for _, c := range []struct {
		name               string
		side, width, times int
	}{
		{"one, a tenth smaller", side, side * 9 / 10, 1},
		{"many in one request", side / 2, side/2 - 100, each},
		{"a small one", 200, 100, 1},
	} {
		got := d.do(http.MethodPost, fmt.Sprintf("/?width=%d&times=%d", c.width, c.times), blackPNG(t, c.side))
		if got.StatusCode != http.StatusOK || !strings.HasPrefix(got.body, "\xff\xd8\xff") {
			t.Errorf("%s: %s %.200s", c.name, got.Status, got.body)
		}
		if peak := d.status(t, "VmHWM"); peak > most {
			t.Errorf("%s: the process had %d MB, over %d", c.name, peak>>10, most>>10)
		} else {
			t.Logf("%s: %d MB at most", c.name, peak>>10)
		}
	}
}
