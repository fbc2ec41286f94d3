package cloudflare

import (
	"bufio"
	"errors"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/sitefile"
)

const listFile = ".pages-output" // lists the files of the last output, a path a line

// output is the folder of a project. The user may have added files: only those on the list are removed and replaced. The folder
// may have come with the site: links in it do not lead out.
type output struct {
	dir   string
	root  *os.Root
	files map[string]bool // of an earlier output
}

// openOutput opens a folder, and makes a missing one.
func openOutput(dir string) (*output, error) {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	o := &output{dir, root, map[string]bool{}}
	list, err := root.ReadFile(listFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, errors.Join(err, root.Close())
	}
	lines := bufio.NewScanner(strings.NewReader(string(list)))
	for lines.Scan() {
		if name := lines.Text(); fs.ValidPath(name) {
			o.files[name] = true
		}
	}
	return o, errors.Join(lines.Err())
}

// claim lists the names and removes the files of the earlier output. It fails for a name that a file of the user has, before
// anything changes.
func (o *output) claim(names []string) error {
	for _, name := range names {
		if info, err := o.root.Lstat(name); err == nil && (!o.files[name] || !info.Mode().IsRegular()) {
			return NotOursError{Dir: o.dir, File: name}
		}
	}
	both := maps.Clone(o.files)
	for _, name := range names {
		both[name] = true
	}
	if err := o.list(slices.Sorted(maps.Keys(both))); err != nil { // a crash from here on leaves only listed files
		return err
	}
	for name := range o.files {
		if err := o.remove(name); err != nil {
			return err
		}
	}
	return nil
}

// remove removes a file, and the folders that are empty then.
func (o *output) remove(name string) error {
	info, err := o.root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && !info.Mode().IsRegular(): // something else took its place
		return nil
	case err != nil:
		return err
	}
	if err := o.root.Remove(name); err != nil {
		return err
	}
	for at := path.Dir(name); at != "." && o.root.Remove(at) == nil; at = path.Dir(at) { //nolint:revive // until one is not empty
	}
	return nil
}

func (o *output) list(names []string) error {
	return o.write(listFile, strings.NewReader(strings.Join(names, "\n")+"\n"), 0o644)
}

// write writes or replaces a file.
func (o *output) write(name string, content io.Reader, mode fs.FileMode) error {
	if err := o.root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	f, err := o.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, mode)
	if err != nil {
		return err
	}
	_, err = io.Copy(f, content)
	return errors.Join(err, f.Close())
}

// copy writes a static file.
func (o *output) copy(a sitefile.Asset, name string) (err error) {
	in, err := os.Open(a.File)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	return o.write(name, in, 0o644)
}
