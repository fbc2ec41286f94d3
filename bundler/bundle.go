package bundler

import (
	"os"

	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// Bundle has everything of a site that is served or run, at one moment. It is immutable: a later Build makes a new one.
type Bundle struct {
	Worker     *Worker            // nil for a static site
	Assets     []sitefile.Asset   // sorted by Path, bytewise; no two have the same Path
	Migrations []Migration        // in the order they are applied: bytewise by Name
	LeftOut    []sitefile.LeftOut // the files and folders in the assets folder that are no assets, sorted by Path
	Manifest   []byte             // the manifest, defaults applied, as canonical JSON (RFC 8785)
	Digest     string             // 64 lower-case hex digits over everything that is served or run

	read map[string]os.FileInfo // the files of the assets, by their names relative to the site's folder
}

// Worker is the site's code as one ES module.
type Worker struct {
	Name string // the module's file name in stack traces
	Code []byte
	// Map is the source map (version 3) of Code, with the sources in it. Their names are relative to the site's folder, with
	// forward slashes.
	Map []byte
	// Folder is the folder of the site that Code and Modules are in as they are; "" where they are compiled.
	Folder  string
	Modules []Module // the imports of Code, but for those that the runtime provides, sorted by Specifier
	// DevelopmentBuilds are the packages whose build for development is in Code, sorted; none where NODE_ENV is Production.
	DevelopmentBuilds []string
}

// Module is a file that the Worker imports and that is not compiled in.
type Module struct {
	Specifier string // its path relative to Code: "./name"; a name in a bundle changes with the bytes
	Kind      ModuleKind
	Bytes     []byte
	Map       []byte // source map of a script that names one, with sources relative to the site's folder; for this machine alone

	file string // relative to the site's folder, with forward slashes
}

// ModuleKind is the type of a Module.
type ModuleKind string

// Kinds of modules.
const (
	KindWasm   ModuleKind = "wasm"   // its default export is a WebAssembly.Module
	KindScript ModuleKind = "script" // JavaScript, of a Worker that is left as it was built: see Options.NoBundle
)

// Migration is one SQL file of the site's database.
type Migration struct {
	Name   string // the file's name without the folder: "0001_members.sql"
	SQL    []byte
	SHA256 string // 64 lower-case hex digits over SQL
}
