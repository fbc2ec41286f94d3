// Package npm holds the files of the npm package pages-toolchain: the launcher of the program, and the bindings of a site for
// processes of Node.js (index.mjs), with a plugin of Vite (vite.mjs).
//
// bindings.mjs is made by cmd/tools/artifacts of src/bindings.js and of the JavaScript halves of the bindings: the classes are those
// of a Worker, and src/parts stands in for what only the engine has. The package runs nothing.
package npm

import "embed"

// Files are those of the package. Its package.json has no version.
//
//go:embed package.json launch.js *.mjs *.d.ts
var Files embed.FS
