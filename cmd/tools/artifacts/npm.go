package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
)

// install brings dir's npm packages to what its lock file says. A stamp inside
// node_modules tells when that was done already; it goes when somebody deletes
// the folder. Scripts of packages are never run.
func install(ctx context.Context, dir string, progress io.Writer) error {
	const stamp = "node_modules/install.stamp"
	for _, name := range []string{"package.json", "package-lock.json"} {
		if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
			return fmt.Errorf("the npm packages cannot be installed: %w", err)
		}
	}
	if fresh(dir, stamp, "package-lock.json", nil) {
		return nil
	}
	npm := exec.CommandContext(ctx, "npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
	npm.Dir, npm.Stdout, npm.Stderr = dir, progress, progress
	if err := npm.Run(); err != nil {
		if errors.Is(err, exec.ErrNotFound) {
			return fmt.Errorf("npm is needed to fetch the packages of %s: install Node.js 20 or newer", dir)
		}
		return fmt.Errorf("npm ci in %s: %w", dir, err)
	}
	if err := os.MkdirAll(filepath.Join(dir, "node_modules"), 0o777); err != nil { // a lock file may name no package
		return err
	}
	return writeStamp(dir, stamp, "package-lock.json", []string{"package.json"})
}
