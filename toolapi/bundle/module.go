package bundle

import (
	"path"
	"strings"
)

// WorkerModule returns the specifier, as in "./assets/page.js", under which the Worker's code imports a file of an upload, and
// whether it is WebAssembly; "" for other files. Modules are WebAssembly files beside the entry and, if the entry has a folder
// of its own, WebAssembly and JavaScript files in it (assumption: the document mentions one module).
func WorkerModule(entry, file string) (specifier string, isWasm bool) {
	folder, ext := path.Dir(entry), path.Ext(file)
	rest := file
	if folder != "." {
		var inside bool
		if rest, inside = strings.CutPrefix(file, folder+"/"); !inside {
			return "", false
		}
	}
	beside := path.Dir(file) == folder
	switch {
	case file == entry:
	case ext == ".wasm" && (beside || folder != "."):
		return "./" + rest, true
	case (ext == ".js" || ext == ".mjs") && folder != ".":
		return "./" + rest, false
	}
	return "", false
}
