package htmlforms

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"strings"

	"golang.org/x/net/html"

	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// Bounds on the search for forms in a site's pages.
const (
	maxPageWork = 512 << 20 // bytes read of all pages; a page with forms is read twice
	parsingCost = 8         // the cost of a parsed byte, in searched bytes
)

// Search collects the forms of a site's pages. The zero value is ready; it is not safe for concurrent use.
type Search struct {
	Forms []Form // each under every name it may post
	Tags  []Tag
	work  int64 // bytes read, in the sense of maxPageWork
	kept  int   // forms and fields, in the sense of maxPageForms
	buf   []byte
}

// Read finds the forms in an HTML file, which is served at a path. ErrTooMuch means that the page exceeds the bounds.
func (s *Search) Read(fsys fs.FS, file, path string) error {
	has, err := s.mentionsForm(fsys, file) // most pages have none, and reading is faster than parsing
	if err != nil || !has {
		return err
	}
	f, err := sitepath.OpenRegular(fsys, file)
	if err != nil {
		return err
	}
	defer f.Close()
	p := newPageScan(file, path)
	p.kept = &s.kept
	err = p.run(&meter{r: f, work: &s.work})
	s.Forms, s.Tags = append(s.Forms, p.listForms()...), append(s.Tags, p.listTags()...)
	if errors.Is(err, html.ErrBufferExceeded) {
		return ErrTooMuch
	}
	return err
}

// Read returns the forms of one page that is served at a path with a leading slash. For a page over the bounds, it
// returns the forms before the limit.
func Read(page []byte, path string) []Tag {
	if !mayHoldForm(page) {
		return nil
	}
	p := newPageScan("", strings.TrimPrefix(path, "/"))
	_ = p.run(bytes.NewReader(page)) // the forms before an error count
	return p.listTags()
}

// mentionsForm reports whether a file has the text of a form's start tag, or of an iframe's, which may hold a page with one.
func (s *Search) mentionsForm(fsys fs.FS, name string) (bool, error) {
	f, err := sitepath.OpenRegular(fsys, name)
	if err != nil {
		return false, err
	}
	defer f.Close()
	if s.buf == nil {
		s.buf = make([]byte, 64<<10)
	}
	for kept := 0; ; {
		if s.work >= maxPageWork {
			return false, ErrTooMuch
		}
		n, err := f.Read(s.buf[kept:])
		s.work += int64(n)
		text := s.buf[:kept+n]
		if mayHoldForm(text) {
			return true, nil
		}
		if errors.Is(err, io.EOF) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
		kept = copy(s.buf, text[max(len(text)-len("<iframe")+1, 0):])
	}
}

// meter counts the work of parsing.
type meter struct {
	r    io.Reader
	work *int64
}

// Read implements io.Reader.
func (m *meter) Read(p []byte) (int, error) {
	if *m.work >= maxPageWork {
		return 0, ErrTooMuch
	}
	n, err := m.r.Read(p)
	*m.work += parsingCost * int64(n)
	return n, err
}
