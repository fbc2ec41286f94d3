//go:build !linux

package blob

import (
	"errors"
	"os"
)

func openNameless(string) (*os.File, error) { return nil, errors.ErrUnsupported }

func linkNameless(*os.File, string) error { return errors.ErrUnsupported }
