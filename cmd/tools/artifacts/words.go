package main

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// icuData is ICU's data with V8's selection, from the npm package of a program with Chromium's ICU.
const icuData = "runtime/intl/dictionary/node_modules/@napi-rs/canvas-win32-x64-msvc/icudtl.dat"

// wordFiles are its files that package dictionary reads.
var wordFiles = []string{
	"brkitr/word.brk", "brkitr/sent.brk", "brkitr/sent_el.brk",
	"brkitr/burmesedict.dict", "brkitr/cjdict.dict", "brkitr/khmerdict.dict", "brkitr/laodict.dict",
	"brkitr/thaidict.dict",
}

// buildWords takes the files out of ICU's data and returns an archive of them, each compressed by zstd.
func buildWords(_ context.Context, root string) ([]byte, []string, error) {
	data, err := os.ReadFile(filepath.Join(root, icuData))
	if err != nil {
		return nil, nil, err
	}
	encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedBestCompression), zstd.WithEncoderConcurrency(1))
	if err != nil {
		return nil, nil, err
	}
	defer encoder.Close()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, name := range wordFiles {
		file, err := icuFile(data, name)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", icuData, err)
		}
		f, err := w.CreateHeader(&zip.FileHeader{Name: path.Base(name), Method: zip.Store})
		if err != nil {
			return nil, nil, err
		}
		if _, err := f.Write(encoder.EncodeAll(file, nil)); err != nil {
			return nil, nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, nil, err
	}
	return b.Bytes(), []string{"runtime/intl/dictionary/package-lock.json", icuData}, nil
}

// icuFile returns a file of ICU's common data: after a header whose size is its first number come the count of files, and for each
// the places of its name and of its bytes, sorted. The names begin with a folder for ICU's version.
func icuFile(data []byte, name string) ([]byte, error) {
	const form = "CmnD"
	if len(data) < 16 || string(data[12:16]) != form {
		return nil, errors.New("is not ICU's common data")
	}
	data = data[min(int(binary.LittleEndian.Uint16(data)), len(data)):]
	number := func(i int) int {
		if 4*i+4 > len(data) {
			return len(data)
		}
		return min(int(binary.LittleEndian.Uint32(data[4*i:])), len(data))
	}
	count := number(0)
	for i := range count {
		full, _, _ := strings.Cut(string(data[number(1+2*i):min(number(1+2*i)+256, len(data))]), "\x00")
		if _, rest, _ := strings.Cut(full, "/"); rest != name {
			continue
		}
		from, to := number(2+2*i), len(data)
		if i+1 < count {
			to = number(4 + 2*i)
		}
		if from >= to {
			break
		}
		return data[from:to], nil
	}
	return nil, fmt.Errorf("has no %s", name)
}
