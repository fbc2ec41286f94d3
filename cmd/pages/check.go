package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"

	"github.com/pages-toolchain/pages/manifest"
)

// checked is one manifest and what was found about it.
type checked struct {
	report manifest.Report      // files as the user would name them
	diags  manifest.Diagnostics // files relative to the site's folder
	src    []byte
	looked []string // absolute paths of what the rules looked at, when that was asked for
}

// checker checks manifests as the flags of `pages validate` say.
type checker struct {
	*cli
	alone  bool // the files that a manifest names are not looked at
	record bool // fill in looked
}

// check validates every site named, or the one found by walking up. What an
// argument does not lead to is part of its report: the others are checked all
// the same.
func (c *cli) check(args []string, alone bool) ([]checked, error) {
	return checker{cli: c, alone: alone}.all(args)
}

func (k checker) all(args []string) ([]checked, error) {
	if len(args) == 0 {
		dir, err := k.find(nil)
		if err != nil {
			return nil, err
		}
		return []checked{k.file(filepath.Join(dir, manifest.FileName))}, nil
	}
	results := make([]checked, len(args))
	todo := make(chan int)
	var stdin error // "-" stands there once at most
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(args)) {
		workers.Go(func() {
			for i := range todo {
				if args[i] == "-" {
					results[i], stdin = k.standardInput()
				} else {
					results[i] = k.named(args[i])
				}
			}
		})
	}
	for i := range args {
		todo <- i
	}
	close(todo)
	workers.Wait()
	return results, stdin
}

const maxStdin = 64 << 20

func (k checker) standardInput() (checked, error) {
	src, err := io.ReadAll(io.LimitReader(k.stdin, maxStdin))
	if err != nil {
		return checked{}, fmt.Errorf("read stdin: %w", err)
	}
	return k.parse("stdin", src), nil
}

func (k checker) parse(name string, src []byte) checked {
	_, diags := manifest.Parse(name, src)
	return checked{report: manifest.NewReport(name, diags), diags: diags, src: src}
}

// named checks the site in a folder, or a manifest whatever it is called.
func (k checker) named(arg string) checked {
	path := k.path(arg)
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		path = filepath.Join(path, manifest.FileName)
	}
	return k.file(path)
}

// file checks one manifest.
func (k checker) file(path string) checked {
	if k.alone {
		src, err := readSource(path)
		if err == nil {
			r := k.parse(k.shown(path), src)
			r.looked = []string{path}
			return r
		}
	}
	fsys := os.DirFS(filepath.Dir(path))
	var seen *recorder
	if k.record {
		seen = newRecorder(fsys)
		fsys = seen
	}
	_, r := k.loadFrom(fsys, path)
	if seen != nil {
		r.looked = seen.paths(filepath.Dir(path))
	}
	return r
}

// maxSource is as much of a manifest as is read: more than one may be long.
const maxSource = 1 << 20

// readSource reads the text of a manifest, as long as it is a file.
func readSource(path string) ([]byte, error) {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return nil, cmp.Or(err, errNoFile)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, maxSource))
}

var errNoFile = errors.New("it is no file")

// load reads and checks the manifest of the site in dir; it is nil when it was
// refused.
func (c *cli) load(dir string) (*manifest.Manifest, checked) {
	return c.loadFrom(os.DirFS(dir), filepath.Join(dir, manifest.FileName))
}

// loadFrom reads and checks the manifest at a path, whose folder fsys is.
func (c *cli) loadFrom(fsys fs.FS, path string) (*manifest.Manifest, checked) {
	m, diags := manifest.Load(fsys, filepath.Base(path))
	src, _ := readSource(path) // without it the report has no code frames
	return m, checked{report: manifest.NewReport(c.shown(path), diags), diags: diags, src: src}
}

// loadSite finds a command's site and its manifest, which must be valid. Warnings
// are printed.
func (c *cli) loadSite(args []string) (string, *manifest.Manifest, error) {
	dir, err := c.find(args)
	if err != nil {
		return "", nil, err
	}
	m, r := c.load(dir)
	if m == nil {
		return "", nil, &refused{report: r.report, src: r.src}
	}
	if len(r.report.Diagnostics) > 0 && !c.quiet && !c.json {
		c.printDiagnostics(r.report, r.src)
	}
	return dir, m, nil
}
