package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// This file opens what may be no file: who opens a pipe waits for another to write, and a device never ends. A file that is
// looked for by its name, such as link.json, is a regular one or refused. What the user names may be a pipe, as <(…) is, and
// so may a file of secrets, which password managers make one: a signal ends the wait.

var (
	errNoFile     = errors.New("it is no file")
	errNotRegular = errors.New("it is no regular file")
)

// openRegular opens a regular file.
func openRegular(path string) (*os.File, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: path, Err: errNotRegular}
	}
	return os.Open(path)
}

// readRegular reads a regular file.
func readRegular(path string) ([]byte, error) {
	f, err := openRegular(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(f)
}

// regularFiles is the file tree of a folder in which nothing else is opened than regular files and folders.
type regularFiles struct{ fs.FS }

// Open implements fs.FS.
func (r regularFiles) Open(name string) (fs.File, error) {
	if info, err := fs.Stat(r.FS, name); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errNotRegular}
	}
	return r.FS.Open(name)
}

// Stat implements fs.StatFS.
func (r regularFiles) Stat(name string) (fs.FileInfo, error) { return fs.Stat(r.FS, name) }

// Lstat implements fs.ReadLinkFS.
func (r regularFiles) Lstat(name string) (fs.FileInfo, error) { return fs.Lstat(r.FS, name) }

// ReadLink implements fs.ReadLinkFS.
func (r regularFiles) ReadLink(name string) (string, error) { return fs.ReadLink(r.FS, name) }

// given is an open file that may be a pipe or a terminal.
type given struct {
	io.Reader
	io.Closer
}

// openGiven opens a file that the user named. It is an *os.File if it is a regular one.
func openGiven(ctx context.Context, path string) (io.ReadCloser, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return nil, err
	case info.IsDir():
		return nil, errNoFile
	case info.Mode().IsRegular():
		return os.Open(path)
	}
	type opened struct {
		f   *os.File
		err error
	}
	done := make(chan opened, 1)
	go func() {
		f, err := os.Open(path)
		done <- opened{f, err}
	}()
	select {
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case o := <-done:
		if o.err != nil {
			return nil, o.err
		}
		return given{newInterruptible(ctx, o.f), o.f}, nil
	}
}

// readGiven reads at most so many bytes of a file that the user named.
func readGiven(ctx context.Context, path string, most int64) ([]byte, error) {
	f, err := openGiven(ctx, path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, most))
}

// pipePatience is how long who writes a pipe of the site's may take.
const pipePatience = 10 * time.Second

// readSecretsFile reads a file of secrets, which may be a pipe, and nothing else that is no regular file.
func readSecretsFile(ctx context.Context, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeNamedPipe == 0 {
		return readRegular(path)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pipePatience, fmt.Errorf("it is a pipe, and nothing was written to it in %v", pipePatience))
	defer cancel()
	text, err := readGiven(ctx, path, maxSecretsFile)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return text, err
}
