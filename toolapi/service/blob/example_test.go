package blob_test

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/pages-toolchain/pages/toolapi/service/blob"
)

func Example() {
	if err := keepHello(); err != nil {
		fmt.Println(err)
	}
	// Output:
	// the hash of the bytes differs from the announced one false
	// hello <nil>
	// who needs 1 of workspace 7
	// 1 <nil>
}

// keepHello stores a file under the SHA-256 of its bytes, reads it, and collects it once it is unreferenced.
func keepHello() (err error) {
	dir, err := os.MkdirTemp("", "blobs")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	store, err := blob.Open(dir, nil)
	if err != nil {
		return err
	}
	const text = "hello"
	bytes := sha256.Sum256([]byte(text))
	sum, workspace := hex.EncodeToString(bytes[:]), store.Space(7)
	_, err = workspace.Put(sum, int64(len(text)), strings.NewReader("hullo"))
	fmt.Println(err, workspace.Has(sum, int64(len(text))))
	if _, err := workspace.Put(sum, int64(len(text)), strings.NewReader(text)); err != nil {
		return err
	}
	if err := workspace.Sync([]string{sum}); err != nil { // now a loss of power does not take it
		return err
	}
	f, err := workspace.Open(sum)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	kept, err := io.ReadAll(f)
	fmt.Printf("%s %v\n", kept, err)

	removed, err := store.Collect(func(workspace int64, sums map[string]bool) error {
		fmt.Println("who needs", len(sums), "of workspace", workspace)
		return nil // removing no sum: no blob is referenced
	})
	fmt.Println(removed, err)
	return err
}
