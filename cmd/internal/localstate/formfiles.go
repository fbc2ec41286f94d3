package localstate

import (
	"context"
	"io"
	"io/fs"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
)

// FormFiles keeps the files of leads in their own bucket, which it opens for the first file. It implements site.Files.
type FormFiles struct {
	open func(context.Context) (*r2.Bucket, error)
}

// NewFormFiles returns the FormFiles of a bucket. open opens the bucket at the first use.
func NewFormFiles(open func(context.Context) (*r2.Bucket, error)) FormFiles {
	return FormFiles{open}
}

// OpenUploads returns the bucket for the files of leads.
func (s *Stores) OpenUploads(ctx context.Context) (*r2.Bucket, error) {
	return s.openStorage(ctx, statefolder.UploadsFolder, &s.uploads)
}

// Begin implements site.Files.
func (f FormFiles) Begin(ctx context.Context, key string) (site.FileWriter, error) {
	bucket, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	u, err := bucket.Begin(key, r2.PutOptions{})
	return formFile{u}, err
}

// Open implements site.Files.
func (f FormFiles) Open(ctx context.Context, key string) (io.ReadCloser, error) {
	bucket, err := f.open(ctx)
	if err != nil {
		return nil, err
	}
	object, body, err := bucket.Get(ctx, key, r2.GetOptions{})
	if err == nil && object == nil {
		err = fs.ErrNotExist
	}
	if err != nil {
		return nil, err
	}
	return body, nil
}

// Delete implements site.Files.
func (f FormFiles) Delete(ctx context.Context, keys []string) error {
	bucket, err := f.open(ctx)
	if err != nil {
		return err
	}
	return bucket.Delete(ctx, keys...)
}

// formFile is a file that is being written. It implements site.FileWriter.
type formFile struct{ *r2.Upload }

// Commit implements site.FileWriter.
func (f formFile) Commit(ctx context.Context) error {
	_, err := f.Upload.Commit(ctx)
	return err
}
