package snapshot

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// found is one file of a state.
type found struct {
	path string
	kind Kind
}

var (
	blobName     = regexp.MustCompile(`^[0-9a-f]{64}$`)
	sqliteHeader = []byte("SQLite format 3\x00")
)

// scan finds the files of the state, sorted by path.
func (s *Store) scan(ctx context.Context) ([]found, error) {
	var files []found
	err := fs.WalkDir(s.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if err = errors.Join(err, ctx.Err()); err != nil {
			return err
		}
		if name == "." {
			return nil
		}
		class := statefolder.Of(name, d.IsDir())
		switch {
		case d.IsDir() && class != statefolder.State:
			return fs.SkipDir
		case d.IsDir(), class != statefolder.State:
			return nil
		case !d.Type().IsRegular():
			return &Error{
				Code: CodeUnusable, Msg: fmt.Sprintf("%q in the state folder is no plain file", name),
				Fix: "move it out of the state folder: a snapshot could not hold what it stands for",
			}
		}
		kind, err := s.kind(name)
		if err == nil {
			files = append(files, found{name, kind})
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	databases := map[string]bool{}
	for _, f := range files {
		databases[f.path] = f.kind == Database
	}
	// What belongs to a database goes with it: SQLite's backup holds what is in the log.
	return slices.DeleteFunc(files, func(f found) bool {
		for _, suffix := range []string{"-wal", "-shm", "-journal"} {
			if of, ok := strings.CutSuffix(f.path, suffix); ok && databases[of] {
				return true
			}
		}
		return false
	}), nil
}

func (s *Store) kind(name string) (Kind, error) {
	if blobName.MatchString(path.Base(name)) && strings.Contains(name, "/") {
		return Blob, nil
	}
	f, err := s.root.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, len(sqliteHeader))
	if _, err := io.ReadFull(f, head); err == nil && bytes.Equal(head, sqliteHeader) {
		return Database, nil
	}
	return Plain, nil
}

func databasesOf(files []found) []string {
	var names []string
	for _, f := range files {
		if f.kind == Database {
			names = append(names, f.path)
		}
	}
	return names
}
