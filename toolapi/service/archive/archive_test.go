package archive_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/archive"
)

func zipped(t testing.TB, method uint16) []byte {
	t.Helper()
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	for _, name := range []string{"pages.deploy.json", "a/b.txt"} {
		f, err := w.CreateHeader(&zip.FileHeader{Name: name, Method: method})
		if err == nil {
			_, err = f.Write([]byte("{}"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func tarred(t testing.TB) []byte {
	t.Helper()
	var out bytes.Buffer
	packed := gzip.NewWriter(&out)
	w := tar.NewWriter(packed)
	for _, name := range []string{"pages.deploy.json", "a/b.txt"} {
		err := w.WriteHeader(&tar.Header{Name: name, Mode: 0o644, Size: 2, Typeflag: tar.TypeReg})
		if err == nil {
			_, err = w.Write([]byte("{}"))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), packed.Close()); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// read returns the contents of an archive, or its error.
func read(data []byte, kind archive.Kind) (names []string, total int64, err error) {
	err = archive.Read(bytes.NewReader(data), int64(len(data)), kind, func(name string, contents []byte) error {
		names, total = append(names, name), total+int64(len(contents))
		return nil
	})
	return names, total, err
}

func TestRead(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		kind archive.Kind
	}{
		"stored": {zipped(t, zip.Store), archive.Zip}, "deflated": {zipped(t, zip.Deflate), archive.Zip},
		"tar": {tarred(t), archive.TarGzip},
	} {
		names, total, err := read(c.data, c.kind)
		if err != nil || fmt.Sprint(names) != "[pages.deploy.json a/b.txt]" || total != 4 {
			t.Errorf("%s: %q, %d bytes, %v", name, names, total, err)
		}
		// Cut anywhere, it is refused.
		for n := range len(c.data) {
			var fault *bundle.FaultError
			if _, _, err := read(c.data[:n], c.kind); !errors.As(err, &fault) {
				t.Errorf("%s, %d of %d bytes: %v", name, n, len(c.data), err)
			}
		}
	}
	stop := errors.New("enough")
	if err := archive.Read(
		bytes.NewReader(tarred(t)), int64(len(tarred(t))), archive.TarGzip, func(string, []byte) error { return stop },
	); !errors.Is(err, stop) {
		t.Errorf("what each returned: %v", err)
	}
}

// TestTarIsWhole: a truncated tar in a complete gzip file is refused unless all its files and the start of its end mark remain.
func TestTarIsWhole(t *testing.T) {
	unpacked, err := gzip.NewReader(bytes.NewReader(tarred(t)))
	if err != nil {
		t.Fatal(err)
	}
	plain, err := io.ReadAll(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	const files = 4 * 512 // two, each with a header
	for n := range plain {
		var out bytes.Buffer
		packed := gzip.NewWriter(&out)
		if _, err := packed.Write(plain[:n]); err != nil {
			t.Fatal(err)
		}
		if err := packed.Close(); err != nil {
			t.Fatal(err)
		}
		var fault *bundle.FaultError
		if _, _, err := read(out.Bytes(), archive.TarGzip); n < files+512 &&
			(!errors.As(err, &fault) || fault.Code != toolapi.CodeArchiveInvalid) {
			t.Errorf("%d of %d bytes: %v", n, len(plain), err)
		}
	}
}

// FuzzRead holds that every archive is read or refused, within the limits.
func FuzzRead(f *testing.F) {
	f.Add(zipped(f, zip.Store), false)
	f.Add(zipped(f, zip.Deflate), false)
	f.Add(tarred(f), true)
	f.Fuzz(func(t *testing.T, data []byte, gzipped bool) {
		kind := archive.Zip
		if gzipped {
			kind = archive.TarGzip
		}
		_, total, err := read(data, kind)
		var fault *bundle.FaultError
		if err != nil && !errors.As(err, &fault) {
			t.Errorf("%v is not a fault", err)
		}
		if total > toolapi.MaxExpanded || total > 1<<20 && total/200 > int64(len(data)) {
			t.Errorf("%d bytes became %d", len(data), total)
		}
	})
}

// TestTwoReaders refuses archives that two readers would read differently.
func TestTwoReaders(t *testing.T) {
	whole := zipped(t, zip.Deflate)
	end := bytes.LastIndex(whole, []byte("PK\x05\x06"))
	for _, count := range []byte{0, 1, 3} {
		data := bytes.Clone(whole)
		data[end+8], data[end+10] = count, count
		var fault *bundle.FaultError
		if _, _, err := read(data, archive.Zip); !errors.As(err, &fault) || fault.Code != toolapi.CodeArchiveInvalid {
			t.Errorf("a zip of two entries that says it has %d: %v", count, err)
		}
	}
	for record, refused := range map[string]bool{
		"comment": false, "mtime": false, "path": true, "linkpath": true, "size": true, "GNU.sparse.name": true,
	} {
		t.Run(record, func(t *testing.T) {
			var out bytes.Buffer
			packed := gzip.NewWriter(&out)
			w := tar.NewWriter(packed)
			err := w.WriteHeader(&tar.Header{
				Typeflag: tar.TypeXGlobalHeader, Name: "pax_global_header",
				PAXRecords: map[string]string{"comment": "1", record: "1"},
			})
			if err == nil {
				err = w.WriteHeader(&tar.Header{Name: "pages.deploy.json", Mode: 0o644, Size: 2, Typeflag: tar.TypeReg})
			}
			if err == nil {
				_, err = w.Write([]byte("{}"))
			}
			if err = errors.Join(err, w.Close(), packed.Close()); err != nil {
				t.Fatalf("%s: %v", record, err)
			}
			var fault *bundle.FaultError
			if _, _, err := read(out.Bytes(), archive.TarGzip); (err != nil) != refused ||
				refused && (!errors.As(err, &fault) || fault.Code != toolapi.CodeArchiveInvalid) {
				t.Errorf("a tar with a global %s: %v", record, err)
			}
		})
	}
}
