//go:build !windows

package terminal

import "os"

// ObeyEscapes has nothing to do: terminals obey escape sequences.
func ObeyEscapes(...*os.File) {}
