// Package node has the parts of Node.js that nodejs_compat gives a Worker: the modules node:buffer, node:crypto,
// node:stream …, which the bundler keeps as imports, cloudflare:node, which connects requests to servers of
// node:http, and the globals process, Buffer, global and setImmediate.
//
// The modules are JavaScript: our own (the folder js) and those of the npm packages unenv and readable-stream, bundled into one
// archive when the binary is built. [Modules] returns their sources; a Worker evaluates only the modules that it imports. unenv
// implements few of its modules, so buffer, util and crypto, among others, are our own; readable-stream is Node.js's own code. Their
// bulk and cryptographic operations run in Go, by the one host function of [Funcs], whose first argument names the operation.
//
// Assumptions where the platform document is open: the version is 22 (js/modules/process.js), the names of modules are
// those of the platform at its pin date (manifest.PinDate), process.env holds the site's secrets, and a derivation of
// a key costs at most maxRounds.
//
// Errors of operations are thrown in JavaScript with the codes of Node.js. The package is safe for
// concurrent use and keeps no state.
//
// A new module is a file in js/modules (js/cloudflare for names of "cloudflare:"), its exports in testdata/names.list,
// what Node.js itself gives in testdata/*.txt; then make artifacts.
package node

import (
	"archive/zip"
	"bufio"
	"bytes"
	"embed"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// hostName is the host function of all operations: a Worker without the flag carries one name of this package, not a hundred.
const hostName = "node"

// Names returns the names of the host functions, for the engine's image.
func Names() []string { return []string{hostName} }

// operation is one operation; argument 0 is its name.
type operation = engine.Func

// Coders keeps the open coders of each request, which JavaScript uses by their ids.
type Coders interface {
	// OpenCompressor opens a compressor that takes so many bytes of memory.
	OpenCompressor(c *engine.Call, cost int64, open func(io.Writer) (compressor, error)) (id int64, err error)
	// Compressor calls do with a compressor, if it is open.
	Compressor(c *engine.Call, id int64, do func(compressor) error) error
	// OpenDecompressor opens a decompressor that takes as much memory as it has written bytes, up to history.
	OpenDecompressor(
		c *engine.Call, history int64, open func(*bufio.Reader) (io.Reader, error), failure func(error) error,
	) (id int64, err error)
}

// Funcs returns the host functions by name.
func Funcs(coders Coders) map[string]engine.Func {
	all := operations(coders)
	return map[string]engine.Func{hostName: func(c *engine.Call) (any, error) {
		f, ok := all[c.String(0)]
		if !ok {
			return nil, fmt.Errorf("the runtime has no operation %q", c.String(0))
		}
		return f(c)
	}}
}

func operations(coders Coders) map[string]operation {
	all := map[string]operation{
		// load(specifier) -> the namespace of a module
		"load": func(c *engine.Call) (any, error) { return engine.Loaded(c.String(1)), nil },
		// follow(on): whether functions of later jobs are followed
		"follow": func(c *engine.Call) (any, error) {
			c.Follow(c.Bool(1))
			return engine.Undefined, nil
		},
	}
	for _, part := range []map[string]operation{
		textOperations(), hashOperations(), deriveOperations(), cipherOperations(), keyOperations(), signOperations(),
		curveOperations(), groupOperations(), zlibOperations(coders),
	} {
		maps.Copy(all, part)
	}
	return all
}

// newError returns an error of a class with a code, as Node.js gives it.
func newError(class, code, format string, args ...any) error {
	return &engine.Error{
		Name: class, Message: fmt.Sprintf(format, args...),
		Props: []engine.Field{{Name: "code", Value: code}},
	}
}

var errGlobalScope = &engine.Error{Name: "Error", Message: "Disallowed operation called within global scope. " +
	"Asynchronous I/O (ex: fetch() or connect()), setting a timeout, and generating random values " +
	"are not allowed within global scope. To fix this error, perform this operation within a handler."}

// needRequest refuses an operation that needs a request while the module is evaluated.
func needRequest(c *engine.Call) error {
	if c.Scope().Value == nil {
		return errGlobalScope
	}
	return nil
}

// artifacts holds modules.zip, with a file "<name>.js" for each module: name is its specifier without "node:", or
// "cloudflare/node". Before cmd/tools/artifacts has built it there is only a README, so that the package compiles.
//
//go:embed artifact
var artifacts embed.FS

// internal is the prefix of the modules that only other modules import.
const internal = "node:internal/"

// Globals is the module that installs the globals; it is evaluated before the Worker.
const Globals = internal + "globals"

var unpacked = sync.OnceValues(unpack) //nolint:gochecknoglobals // one archive a process

// Modules returns the sources of all modules by specifier, to be read only. It is nil in a binary that was built without them;
// an error means a damaged archive.
func Modules() (map[string]string, error) { return unpacked() }

// Specifiers returns the specifiers that a Worker may import, sorted. It unpacks no module.
func Specifiers() []string {
	archive, err := openArchive()
	if err != nil || archive == nil {
		return nil
	}
	var names []string
	for _, file := range archive.File {
		if name := specifierOf(file.Name); !strings.HasPrefix(name, internal) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// openArchive returns the archive of the modules; nil in a binary that was built without it.
func openArchive() (*zip.Reader, error) {
	packed, err := artifacts.ReadFile("artifact/modules.zip")
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // a missing archive is not an error: the flag then provides nothing
	}
	archive, err := zip.NewReader(bytes.NewReader(packed), int64(len(packed)))
	if err != nil {
		return nil, fmt.Errorf("the archive of the modules of Node.js: %w", err)
	}
	return archive, nil
}

func specifierOf(file string) string {
	specifier := "node:" + strings.TrimSuffix(file, ".js")
	if name, ok := strings.CutPrefix(specifier, "node:cloudflare/"); ok {
		return "cloudflare:" + name
	}
	return specifier
}

func unpack() (map[string]string, error) {
	archive, err := openArchive()
	if err != nil || archive == nil {
		return nil, err
	}
	modules := make(map[string]string, len(archive.File))
	for _, file := range archive.File {
		text, err := fs.ReadFile(archive, file.Name)
		if err != nil {
			return nil, fmt.Errorf("the archive of the modules of Node.js: %w", err)
		}
		modules[specifierOf(file.Name)] = string(text)
	}
	return modules, nil
}
