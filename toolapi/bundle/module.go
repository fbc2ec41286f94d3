package bundle

import (
	"path"
	"strings"
)

// WorkerModule returns the specifier, as in "./assets/page.js", under which the Worker's code imports a file of an upload, and
// whether it is WebAssembly; "" for a file that is no module of the Worker. Those are WebAssembly beside the entry and, where
// the entry has a folder of its own, WebAssembly and JavaScript in it (assumption: the document speaks of one module).
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
