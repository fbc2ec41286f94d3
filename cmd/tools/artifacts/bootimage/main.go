// Command bootimage writes the boot image that the binary embeds: bootimage FILE.
// It boots the engine with the prelude, which must exist already.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	pagesruntime "github.com/pages-toolchain/pages/runtime"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: bootimage FILE")
		os.Exit(2)
	}
	if err := write(context.Background(), os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "bootimage:", err)
		os.Exit(1)
	}
}

// write writes the image beside its place and renames it, so that no build
// embeds half of one.
func write(ctx context.Context, file string) error {
	image, err := pagesruntime.BootImage(ctx)
	if err != nil {
		return err
	}
	temporary := filepath.Join(filepath.Dir(file), ".boot.image.new")
	if err := os.WriteFile(temporary, image, 0o644); err != nil {
		return err
	}
	return os.Rename(temporary, file)
}
