package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// entry is one file of an archive.
type entry struct {
	name string // a path with slashes
	text []byte
	mode fs.FileMode
}

// sortEntries returns the files in the order of their names.
func sortEntries(files []entry) []entry {
	files = slices.Clone(files)
	slices.SortFunc(files, func(a, b entry) int { return strings.Compare(a.name, b.name) })
	return files
}

// folders are the folders that files lie in, the outer ones first.
func folders(files []entry) (list []string) {
	for _, f := range files {
		for i, c := range f.name {
			if dir := f.name[:i]; c == '/' && dir != "." {
				list = append(list, dir)
			}
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// tarball makes a tar.gz whose every byte follows from the files and the time.
func tarball(files []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, dir := range folders(files) {
		if err := w.WriteHeader(&tar.Header{
			Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: at, Format: tar.FormatUSTAR,
		}); err != nil {
			return nil, err
		}
	}
	for _, f := range sortEntries(files) {
		h := &tar.Header{
			Typeflag: tar.TypeReg, Name: f.name, Mode: int64(f.mode.Perm()), Size: int64(len(f.text)), ModTime: at,
			Format: tar.FormatUSTAR,
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(f.text); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return compressGzip(b.Bytes())
}

func compressGzip(text []byte) ([]byte, error) {
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	_, err = w.Write(text)
	err = errors.Join(err, w.Close())
	return b.Bytes(), err // closing wrote the end
}

// makeZip makes a zip in the same way.
func makeZip(files []entry, at time.Time) ([]byte, error) {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, f := range sortEntries(files) {
		h := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
		h.SetMode(f.mode)
		part, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := part.Write(f.text); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return b.Bytes(), err
}
