package service

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/secretscan"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

// This file refuses a revision whose files hold a secret of their site: who builds it, as CI does, may not know the
// values. It is looked for when the revision is made, and not as blobs arrive: a blob belongs to a workspace and may
// be there already, a secret belongs to a site. A revision that was made before a secret was set stays, and can be
// gone back to.
//
// An answer must not help to guess a secret that its asker may not read. One upload can hold some 2^29 guesses, a
// holder can send some 2^12 uploads a minute, and only what has leakBits or more is looked for: 2^31 minutes. Weaker
// values are left to the command line, which has them anyway.

const (
	leakBits = 72
	// What is unpacked of packed files to look into them: of each, and of all in one upload.
	maxLeakFile   = 16 << 20
	maxLeakUpload = 256 << 20
	// leaksTold is how many files a refusal names.
	leaksTold = 5
	// leakReaders is how many uploads are looked through at once.
	leakReaders = 2
)

// siteFile is a file of an upload.
type siteFile struct{ path, sum string }

// filesOf are the files and the manifest of a bundle that is stored.
func (t tx) filesOf(id int64) (text []byte, files []siteFile, err error) {
	var packed []byte
	if _, err := t.queryOne("SELECT manifest, files FROM bundles WHERE id = ?", []any{id}, &text, &packed); err != nil {
		return nil, nil, err
	}
	for f, err := range storedFiles(packed) {
		if err != nil {
			return nil, nil, fmt.Errorf("read bundle %d: %w", id, err)
		}
		files = append(files, siteFile{f.Path, string(f.SHA256)})
	}
	return text, files, nil
}

// uploadedFiles are the files of an archive.
func uploadedFiles(b *bundle.Bundle) []siteFile {
	files := make([]siteFile, len(b.Files))
	for i, f := range b.Files {
		files[i] = siteFile{f.Path, f.SHA256}
	}
	return files
}

// secretsOf is the secrets of a site that are looked for, nil for none.
func (s *Service) secretsOf(ctx context.Context, site string) (*secretscan.Set, error) {
	var all []secretscan.Secret
	err := s.db.read(ctx, func(t tx) error {
		names, err := list(t, func(rows *sql.Rows, name *string) error { return rows.Scan(name) }, "SELECT name FROM secrets WHERE site_id = ?", site)
		if err != nil {
			return err
		}
		values, err := s.secretValues(t, site, names)
		for name, value := range values {
			all = append(all, secretscan.Secret{Name: name, Value: value})
		}
		return err
	})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return secretscan.New(all, secretscan.Options{MinBits: leakBits}), nil
}

// checkLeaks refuses files that would publish a secret of the site, or a password in "_headers".
func (s *Service) checkLeaks(ctx context.Context, site string, space *blob.Space, text []byte, files []siteFile) error {
	m, _ := manifest.Parse(manifest.FileName, text) // it passed when it was declared
	if m != nil && m.Assets != "" {
		if err := checkHeaders(space, path.Join(path.Clean(m.Assets), sitepath.HeadersFile), files); err != nil {
			return err
		}
	}
	secrets, err := s.secretsOf(ctx, site)
	if err != nil || secrets == nil {
		return err
	}
	found, err := s.findSecrets(ctx, space, secrets, files)
	if err != nil || len(found) == 0 {
		return err
	}
	return toolapi.NewPagesError(toolapi.CodeSecretInOutput, "The upload holds secrets of this site, and no revision was made: "+strings.Join(found, "; ")+
		". Take them out, have the Worker read them from its environment, and set new ones if these were published.")
}

// checkHeaders refuses a line of "_headers" that would give a password or a key to every visitor.
func checkHeaders(space *blob.Space, name string, files []siteFile) error {
	for _, f := range files {
		if f.path != name {
			continue
		}
		text, err := readBlob(space, f.sum, toolapi.MaxFileBytes)
		if err != nil {
			return err
		}
		_, found := edgerules.Parse(string(text), "")
		for _, d := range found {
			if d.Code == diagnostic.CodeEdgeSecret {
				return toolapi.NewPagesError(toolapi.CodeSecretInOutput, fmt.Sprintf("%s, line %d: %s; %s.", strconv.Quote(f.path), d.Line, d.Message, d.Fix))
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

// findSecrets says of the first files that hold a secret which and how, each blob once. Its memory is bounded.
func (s *Service) findSecrets(ctx context.Context, space *blob.Space, secrets *secretscan.Set, files []siteFile) (told []string, err error) {
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
		if seen[f.sum] {
			continue
		}
		seen[f.sum] = true
		found, err := l.read(space, f)
		if err != nil {
			return nil, err
		}
		if len(found) > 0 {
			told = append(told, strconv.Quote(f.path)+" holds "+found[0].What())
		}
		if len(told) == leaksTold {
			break
		}
	}
	return told, nil
}

// leakReader looks through one blob after the other.
type leakReader struct {
	secrets *secretscan.Set
	stream  *secretscan.Stream
	buffer  []byte
	left    int64 // bytes that may still be unpacked
}

func (l *leakReader) read(space *blob.Space, f siteFile) (found []secretscan.Finding, err error) {
	b, err := space.Open(f.sum)
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
	if found = l.stream.Findings(); len(found) > 0 || !secretscan.Packed(f.path) || l.left <= 0 {
		return found, nil
	}
	if _, err := b.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	found, read, _ := l.secrets.Unpack(f.path, b, min(maxLeakFile, l.left))
	l.left -= read
	return found, nil
}
