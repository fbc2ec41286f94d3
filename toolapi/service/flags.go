package service

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// configs are the JSON runtime configs among the files of an upload: their hashes, by path.
type configs map[string]string

// note takes a file that is one.
func (c configs) note(path, sum string) {
	if slices.Contains(manifest.RuntimeConfigs(), path) {
		c[path] = sum
	}
}

// check holds the compatibility flags that they declare, beside a manifest, to those that the platform accepts.
func (c configs) check(text []byte, space *blob.Space) error {
	_, err := bundle.Flags(text, func(name string) (config []byte, err error) {
		sum, ok := c[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		f, err := space.Open(sum)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		return io.ReadAll(f)
	})
	return err
}

// checkFlags does so for a bundle that is stored.
func (t tx) checkFlags(s *Service, workspace, bundle int64) error {
	var text, packed []byte
	if _, err := t.queryOne("SELECT manifest, files FROM bundles WHERE id = ?", []any{bundle}, &text, &packed); err != nil {
		return err
	}
	found := configs{}
	for f, err := range storedFiles(packed) {
		if err != nil {
			return fmt.Errorf("read bundle %d: %w", bundle, err)
		}
		found.note(f.Path, string(f.SHA256))
	}
	store, err := s.store()
	if err != nil {
		return err
	}
	return found.check(text, store.Space(workspace))
}
