package bundler

import (
	"os"

	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// Bundle is a snapshot of everything of a site that is served or run. It is immutable: a later Build makes a new one.
type Bundle struct {
	Worker     *Worker            // nil for a static site
	Assets     []sitefile.Asset   // sorted by Path, bytewise; no two have the same Path
	Migrations []Migration        // in the order they are applied: bytewise by Name
	LeftOut    []sitefile.LeftOut // files and folders in the assets folder that are not assets, sorted by Path
	Manifest   []byte             // the manifest, defaults applied, as canonical JSON (RFC 8785)
	Digest     string             // 64 lower-case hex digits over everything that is served or run

	read map[string]os.FileInfo // the files of the assets, by their names relative to the site's folder
}

// Worker is the site's code as one ES module.
type Worker struct {
	Name string // the module's file name in stack traces
	Code []byte
	// Map is the source map (version 3) of Code, including the sources, whose names are relative to the site's folder, with
	// forward slashes.
	Map []byte
	// Folder is the folder of unchanged Code and Modules in the site; "" for compiled ones.
	Folder  string
	Modules []Module // the imports of Code except those of the runtime, sorted by Specifier
	// DevelopmentBuilds are the packages with a development build in Code, sorted; none when NODE_ENV is Production.
	DevelopmentBuilds []string
}

// Module is an imported file that is not compiled into the Worker.
type Module struct {
	Specifier string // its path relative to Code: "./name"; a name in a bundle changes with the bytes
	Kind      ModuleKind
	Bytes     []byte
	Map       []byte // source map of a script that names one, with sources relative to the site's folder; never published

	file string // relative to the site's folder, with forward slashes
}

// ModuleKind is the type of a Module.
type ModuleKind string

// Kinds of modules.
const (
	KindWasm   ModuleKind = "wasm"   // its default export is a WebAssembly.Module
	KindScript ModuleKind = "script" // JavaScript of an unchanged Worker: see Options.NoBundle
)

// Migration is one SQL file of the site's database.
type Migration struct {
	Name   string // the file's name without the folder: "0001_members.sql"
	SQL    []byte
	SHA256 string // 64 lower-case hex digits over SQL
}
