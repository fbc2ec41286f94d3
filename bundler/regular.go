package bundler

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/evanw/esbuild/pkg/api"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// This file keeps the compiler away from what is no regular file: whoever opens a pipe waits for another to write, and a
// device never ends.

var errNotRegular = errors.New("it is no regular file")

// readRegular reads a regular file.
func readRegular(path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errNotRegular}
	}
	return os.ReadFile(path)
}

// irregular is the message of the plugin about a file that is imported and is none that can be read.
func (i *imports) irregular(path string) []api.Message {
	return []api.Message{{
		Text:   `"` + filepath.ToSlash(i.reads.relative(path)) + `" cannot be imported: ` + errNotRegular.Error(),
		Detail: refusal{"import-kind", "put a file in its place"},
	}}
}

// settingsFiles are read by esbuild itself in every folder from the entry's up, before a plugin is asked.
var settingsFiles = []string{"package.json", "tsconfig.json", "jsconfig.json"}

// irregularSettings are those that esbuild would not end to read. It passes over folders.
func (e explainer) irregularSettings() (found diagnostic.List) {
	for dir := filepath.Dir(filepath.Join(e.dir, filepath.FromSlash(e.entry))); ; dir = filepath.Dir(dir) {
		for _, name := range settingsFiles {
			file := filepath.Join(dir, name)
			if info, err := os.Stat(file); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
				e.reads.add(file)
				found = append(found, problem("settings-wrong-kind", filepath.ToSlash(e.reads.relative(file)),
					"put a file in its place, or remove it", "%q, which says how the Worker is compiled, cannot be read: %v", name, errNotRegular))
			}
		}
		if dir == filepath.Dir(dir) {
			return found
		}
	}
}

// leaveAfter is how long esbuild may take to stop. Longer takes only what waits for a file's bytes.
const leaveAfter = time.Second

// stopped is the result of a build that was left.
func stopped(err error) api.BuildResult {
	return api.BuildResult{Errors: []api.Message{{Text: "the build was stopped: " + err.Error()}}}
}

// once has esbuild build. It reads settings of packages by itself, and waits where one is a pipe: at the end of ctx it is
// left behind then, and the compiler is of no use any more.
func (c *compiler) once(ctx context.Context) api.BuildResult {
	built := make(chan api.BuildResult, 1)
	go func() { built <- c.context.Rebuild() }()
	select {
	case result := <-built:
		return result
	case <-ctx.Done():
	}
	select {
	case result := <-built:
		return result
	case <-time.After(leaveAfter):
		c.left = true
		return stopped(context.Cause(ctx))
	}
}
