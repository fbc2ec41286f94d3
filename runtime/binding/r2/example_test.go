package r2_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	_ "modernc.org/sqlite"

	"github.com/pages-toolchain/pages/runtime/binding/r2"
)

func ExampleBucket() {
	if err := keepPoem(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// 25 bytes, "f7b2cd0f1f7ef9f358c9a225c32d47e4"
	// poems/rain.txt
	// rain on the river
}

// keepPoem stores an object in a new bucket, lists it and reads a part of it.
func keepPoem(ctx context.Context) (err error) {
	dir, err := os.MkdirTemp("", "bucket")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "storage.db")+
		"?_pragma=journal_mode(WAL)&_pragma=synchronous(FULL)&_pragma=foreign_keys(1)&_txlock=immediate")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	bucket, err := r2.New(ctx, db, root, time.Now)
	if err != nil {
		return err
	}
	object, err := bucket.Put(ctx, "poems/rain.txt", strings.NewReader("rain on the river at dusk"), r2.PutOptions{})
	if err != nil {
		return err
	}
	fmt.Printf("%d bytes, %q\n", object.Size, object.ETag)
	page, err := bucket.List(ctx, r2.ListOptions{Prefix: "poems/"})
	if err != nil {
		return err
	}
	for _, o := range page.Objects {
		fmt.Println(o.Key)
	}
	length := int64(17)
	_, body, err := bucket.Get(ctx, "poems/rain.txt", r2.GetOptions{Range: &r2.Range{Length: &length}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, body.Close()) }()
	text, err := io.ReadAll(body)
	fmt.Println(string(text))
	return err
}
