//go:build !windows

package main

import "os"

// obeyEscapes has nothing to do: terminals obey escape sequences.
func obeyEscapes(...*os.File) {}
