package scaffold

import (
	"errors"
	"io/fs"
	"os"

	"github.com/pages-toolchain/pages/cmd/internal/projectfile"
	"github.com/pages-toolchain/pages/manifest/packager"
)

// write plans and writes the site's files and, at the root of its checkout, the
// workflow and the editors' files.
func (s *site) write() (err error) {
	made, err := s.makeFolder()
	if err != nil {
		return err
	}
	defer func() {
		if err != nil && made {
			_ = os.Remove(s.dir) // fails once there is something in it
		}
	}()
	folder, err := projectfile.Open(s.dir)
	if err != nil {
		return s.unwritable(s.dir, err)
	}
	defer func() { err = errors.Join(err, folder.Close()) }()
	root := packager.Checkout(s.dir)
	if root == "" {
		root = s.dir
	}
	top, err := projectfile.Open(root)
	if err != nil {
		return s.unwritable(root, err)
	}
	defer func() { err = errors.Join(err, top.Close()) }()

	ownFiles, err := s.planOwn(folder)
	if err != nil {
		return err
	}
	topFiles, err := s.planAround(folder, top)
	if err != nil {
		return err
	}
	own, around := planned{folder, ownFiles}, planned{top, topFiles}
	if err := errors.Join(own.write(s.term), around.write(s.term)); err != nil {
		return err
	}
	return s.finish(own, around)
}

func (s *site) makeFolder() (made bool, err error) {
	if _, err := os.Stat(s.dir); !errors.Is(err, fs.ErrNotExist) {
		return false, nil // what is wrong with it, opening it says
	}
	if err := os.MkdirAll(s.dir, 0o755); err != nil {
		return false, s.unwritable(s.dir, err)
	}
	return true, nil
}
