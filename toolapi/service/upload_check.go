package service

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/secretscan"
	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// This file applies the rules that need the bytes of an upload's files, when the revision is made.
//
// A revision must not hold a secret of its site: CI, which builds it, may not know the values. Blobs are not searched as
// they arrive: a blob belongs to a workspace and may exist already, a secret belongs to a site. Revisions from before a
// secret was set stay available for rollbacks.
//
// A response must not help to guess a secret that the client may not read. One upload can hold some 2^29 guesses, a
// holder can send some 2^12 uploads a minute, and only values of leakBits or more are searched for: 2^31 minutes. The
// command line, which has the values anyway, checks weaker ones.

const (
	leakBits = 72
	// Bounds on the unpacked bytes of packed files: for each, and for one upload.
	maxLeakFile   = 16 << 20
	maxLeakUpload = 256 << 20
	maxLeaksNamed = 5 // files in a refusal
	leakReaders   = 2 // concurrent searches
)

// checkedFiles returns the manifest and the files of a stored bundle, sorted by path.
func (t tx) checkedFiles(id int64) (text []byte, files []sitefile.File, err error) {
	b, err := t.bundle(id)
	if err != nil {
		return nil, nil, err
	}
	return b.Text, b.Files, nil
}

// checkFlags refuses compatibility flags of the manifest and of JSON runtime configs that the platform does not accept.
func checkFlags(text []byte, space *blob.Space, files []sitefile.File) error {
	configs := map[string]string{} // hashes
	for _, f := range files {
		if slices.Contains(manifest.RuntimeConfigs(), f.Path) {
			configs[f.Path] = f.SHA256
		}
	}
	_, err := bundle.Flags(text, func(name string) ([]byte, error) {
		sum, ok := configs[name]
		if !ok {
			return nil, fs.ErrNotExist
		}
		return readBlob(space, sum, math.MaxInt64)
	})
	return err
}

// checkMigrations refuses migrations that are not text, before their approval.
func checkMigrations(text []byte, space *blob.Space, files []sitefile.File) error {
	if len(files) == 0 { // the revision was made before
		return nil
	}
	return bundle.CheckMigrations(text, func(yield func(string) bool) {
		for _, f := range files {
			if !yield(f.Path) {
				return
			}
		}
	}, func(name string) ([]byte, error) {
		i, _ := slices.BinarySearchFunc(files, name, func(f sitefile.File, name string) int { return strings.Compare(f.Path, name) })
		return readBlob(space, files[i].SHA256, toolapi.MaxFileBytes)
	})
}

// checkLeaks refuses files that would publish a secret of the site, or a password in "_headers".
func (s *Service) checkLeaks(ctx context.Context, site string, space *blob.Space, text []byte, files []sitefile.File) error {
	m, _ := manifest.Parse(manifest.FileName, text) // it was valid when declared
	if m != nil && m.Assets != "" {
		if err := checkHeaders(space, path.Join(path.Clean(m.Assets), sitepath.HeadersFile), files); err != nil {
			return err
		}
	}
	secrets, err := readTx(ctx, s.db, func(t tx) (all []secretscan.Secret, err error) {
		names, err := listColumn[string](t, "SELECT name FROM secrets WHERE site_id = ?", site)
		if err != nil {
			return nil, err
		}
		values, err := s.secretValues(t, site, names)
		for name, value := range values {
			all = append(all, secretscan.Secret{Name: name, Value: value})
		}
		return all, err
	})
	if err != nil || len(secrets) == 0 {
		return err
	}
	set := secretscan.New(secrets, secretscan.Options{MinBits: leakBits})
	if set == nil {
		return nil
	}
	found, err := s.findSecrets(ctx, space, set, files)
	if err != nil || len(found) == 0 {
		return err
	}
	return toolapi.NewPagesError(toolapi.CodeSecretInOutput,
		"The upload holds secrets of this site, and no revision was made: "+strings.Join(found, "; ")+
			". Remove them, read them from the Worker's environment, and set new ones if these were published.")
}

// checkHeaders refuses a line of "_headers" that would give a password or a key to every visitor.
func checkHeaders(space *blob.Space, name string, files []sitefile.File) error {
	for _, f := range files {
		if f.Path != name {
			continue
		}
		text, err := readBlob(space, f.SHA256, toolapi.MaxFileBytes)
		if err != nil {
			return err
		}
		_, found := edgerules.Parse(string(text), "")
		for _, d := range found {
			if d.Code == diagnostic.CodeEdgeSecret {
				return toolapi.NewPagesError(toolapi.CodeSecretInOutput,
					fmt.Sprintf("%s, line %d: %s; %s.", strconv.Quote(f.Path), d.Line, d.Message, d.Fix))
			}
		}
	}
	return nil
}

func readBlob(space *blob.Space, sum string, limit int64) (text []byte, err error) {
	f, err := space.Open(sum)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return io.ReadAll(io.LimitReader(f, limit))
}

// findSecrets names the first files with a secret, and its form, each blob once. Its memory is bounded.
func (s *Service) findSecrets(
	ctx context.Context, space *blob.Space, secrets *secretscan.Set, files []sitefile.File,
) (named []string, err error) {
	select {
	case s.looking <- struct{}{}:
		defer func() { <-s.looking }()
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
	l := leakReader{secrets: secrets, stream: secrets.Stream(), buffer: make([]byte, 64<<10), left: maxLeakUpload}
	seen := map[string]bool{}
	for _, f := range files {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if seen[f.SHA256] {
			continue
		}
		seen[f.SHA256] = true
		found, err := l.read(space, f)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			named = append(named, strconv.Quote(f.Path)+" holds "+found[0].What())
		}
		if len(named) == maxLeaksNamed {
			break
		}
	}
	return named, nil
}

// leakReader searches one blob after the other.
type leakReader struct {
	secrets *secretscan.Set
	stream  *secretscan.Stream
	buffer  []byte
	left    int64 // bytes that may still be unpacked
}

func (l *leakReader) read(space *blob.Space, f sitefile.File) (found []secretscan.Finding, err error) {
	b, err := space.Open(f.SHA256)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, toolapi.NewPagesError(toolapi.CodeBlobsMissing, "A blob is missing: ask for the upload's status, and send it.")
	}
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.Close()) }()
	l.stream.Reset()
	for {
		n, err := b.Read(l.buffer)
		_, _ = l.stream.Write(l.buffer[:n]) // never fails
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
	}
	if found = l.stream.Findings(); len(found) > 0 || !secretscan.Packed(f.Path) || l.left <= 0 {
		return found, nil
	}
	if _, err := b.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	found, read, _ := l.secrets.Unpack(f.Path, b, min(maxLeakFile, l.left))
	l.left -= read
	return found, nil
}
