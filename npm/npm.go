// Package npm holds the files of the npm package pages-toolchain: the launcher of the program, and the bindings of a site for processes of
// Node.js (index.mjs), with a Vite plugin (vite.mjs).
//
// cmd/tools/artifacts makes bindings.mjs from src/bindings.js and the JavaScript halves of the bindings: the classes are those of a Worker,
// and src/parts replaces the parts of the engine. The package runs no code.
package npm

import "embed"

// Files are the files of the package. Its package.json has no version.
//
//go:embed package.json launch.js *.mjs *.d.ts
var Files embed.FS
