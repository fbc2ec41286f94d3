package archive_test

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"

	"github.com/pages-toolchain/pages/toolapi/bundle"
	"github.com/pages-toolchain/pages/toolapi/service/archive"
)

// Each file comes whole. An archive that two readers could read differently is refused.
func ExampleRead() {
	for _, names := range [][]string{{"index.html", "css/site.css"}, {"index.html", "index.html"}} {
		packed, err := pack(names)
		if err != nil {
			fmt.Println(err)
			return
		}
		err = archive.Read(bytes.NewReader(packed), int64(len(packed)), archive.Zip, func(name string, contents []byte) error {
			fmt.Printf("%s: %s\n", name, contents)
			return nil
		})
		if fault, ok := errors.AsType[*bundle.FaultError](err); ok {
			fmt.Println(fault.Code)
			fmt.Println(fault.Message)
		}
	}
	// Output:
	// index.html: of index.html
	// css/site.css: of css/site.css
	// archive_duplicate
	// The archive has "index.html" twice.
}

// pack makes a zip archive of files of these names.
func pack(names []string) ([]byte, error) {
	var packed bytes.Buffer
	w := zip.NewWriter(&packed)
	for _, name := range names {
		f, err := w.Create(name)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write([]byte("of " + name)); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return packed.Bytes(), err
}
