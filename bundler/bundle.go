package bundler

import (
	"os"

	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// Bundle has everything of a site that is served or run, at one moment. It is immutable: a later Build makes a new one.
type Bundle struct {
	// Worker is nil for a static site.
	Worker *Worker
	// Assets are sorted by Path, bytewise. No two have the same Path.
	Assets []sitefile.Asset
	// Migrations are in the order they are applied: bytewise by Name.
	Migrations []Migration
	// LeftOut are the files and folders in the assets folder that are no assets, sorted by Path.
	LeftOut []sitefile.LeftOut
	// Manifest is the manifest, defaults applied, as canonical JSON (RFC 8785).
	Manifest []byte
	// Digest is 64 lower-case hex digits over everything that is served or run.
	Digest string

	read map[string]os.FileInfo // the files of the assets, by their names relative to the site's folder
}

// Worker is the site's code as one ES module.
type Worker struct {
	// Name is the module's file name in stack traces.
	Name string
	Code []byte
	// Map is the source map (version 3) of Code, with the sources in it. Their names are relative to the site's folder, with
	// forward slashes.
	Map []byte
	// Modules are the imports of Code, but for those that the runtime provides, sorted by Specifier.
	Modules []Module
}

// Module is a file that the Worker imports and that is not compiled in.
type Module struct {
	// Specifier is the name in the import of Worker.Code. It changes with the bytes.
	Specifier string
	Kind      ModuleKind
	Bytes     []byte

	file string // relative to the site's folder, with forward slashes
}

// ModuleKind is the type of a Module.
type ModuleKind string

// KindWasm is a WebAssembly module: its default export is a WebAssembly.Module.
const KindWasm ModuleKind = "wasm"

// Migration is one SQL file of the site's database.
type Migration struct {
	// Name is the file's name without the folder: "0001_members.sql".
	Name string
	SQL  []byte
	// SHA256 is 64 lower-case hex digits over SQL.
	SHA256 string
}
