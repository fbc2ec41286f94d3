package bundle

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// This file reads the compatibility flags of an upload: those of its manifest, or of the JSON runtime config among
// its files, whose text is there only once the files are.

// Flags returns the flags that a JSON runtime config declares beside a manifest; none where the manifest's count. read
// returns the text of a file by its path, or fs.ErrNotExist. The error is a *FaultError, or one of read's.
func Flags(text []byte, read func(path string) ([]byte, error)) ([]string, error) {
	for _, name := range manifest.RuntimeConfigs() {
		config, err := read(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		flags, diagnostics := validate.RuntimeFlags(text, name, config)
		if diagnostics.HasErrors() {
			return nil, manifestFault(diagnostics)
		}
		return flags, nil
	}
	return nil, nil
}
