package workerd

import (
	"embed"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/runtime/binding/wire"
)

// This file writes workerd's configuration: the modules of a Worker with our script around them, and its bindings.

// artifacts holds prelude.js once cmd/tools/artifacts has bundled it; before that only a README, so that the module compiles.
//
//go:embed artifact
var artifacts embed.FS

const (
	compatibilityDate = "2026-10-01" // of the platform
	// heapMB is the limit of V8's heap: that of the platform's isolate.
	heapMB = 128
	// cfHeader is the header from which workerd takes request.cf.
	cfHeader = "Pages-Cf"
	// mainService is the name of the Worker's service.
	mainService = "main"
	// frontName is the name of our socket, for the command line.
	frontName = "front"
)

// entryScript is evaluated before the author's module: %s are the name of tasksScript, node:util, its own secrets and the path of that
// module. tasksScript comes first, since the prelude imports "cloudflare:workers".
const entryScript = `import { around } from %s;
import { failed, install, wrap } from "./prelude.js";
%s
install(%s, %s, util, around);
let module;
try {
  module = await import(%s);
} catch (error) {
  failed(error);
  throw error;
}
let worker;
try {
  worker = wrap(module);
} catch (error) {
  failed(error);
  throw error;
}
export default worker;
`

// tasksScript is an extension of workerd, since only extensions may import its internal modules. "cloudflare:workers" takes its waitUntil
// when it is evaluated, so this script replaces it before, with the prelude's.
const tasksScript = `import internal from "cloudflare-internal:workers";
const native = internal.waitUntil.bind(internal);
let ours;
export function around(make) {
  ours ??= make(native);
}
internal.waitUntil = function waitUntil() {
  return Reflect.apply(ours ?? native, undefined, arguments);
};
`

// mainScript has the exports for workerd.
const mainScript = `import "./entry.js";
export * from %s;
export { default } from "./entry.js";
`

// writeConfig writes the configuration and the modules into a folder, and returns the name of the file to start with.
func (w *Worker) writeConfig(folder string) (name string, err error) {
	var modules strings.Builder
	add := func(kind, name string, content []byte) {
		if err != nil {
			return
		}
		file := "module" + strconv.Itoa(strings.Count(modules.String(), "\n"))
		err = os.WriteFile(filepath.Join(folder, file), content, 0o600)
		fmt.Fprintf(&modules, "(name = %s, %s = embed %s),\n", wire.Text(name), kind, wire.Text(file))
	}
	own := w.folder + "/" // a name that no import of the author uses
	author := quoteModule("../" + w.o.Name)
	util := "const util = undefined;"
	if w.o.NodeJS {
		util = `import util from "node:util";`
	}
	add("esModule", own+"main.js", fmt.Appendf(nil, mainScript, author))
	add("esModule", own+"entry.js", fmt.Appendf(
		nil, entryScript, quoteModule("../"+w.tasks()), util, strconv.Quote(w.token), strconv.Quote(w.front), author,
	))
	add("esModule", own+"prelude.js", w.prelude)
	add("esModule", w.o.Name, w.o.Code)
	for _, specifier := range slices.Sorted(maps.Keys(w.o.Scripts)) {
		add("esModule", strings.TrimPrefix(specifier, "./"), []byte(w.o.Scripts[specifier].Text))
	}
	for _, specifier := range slices.Sorted(maps.Keys(w.o.Wasm)) {
		add("wasm", strings.TrimPrefix(specifier, "./"), w.o.Wasm[specifier])
	}
	if err != nil {
		return "", err
	}
	const file = "config.capnp"
	return file, os.WriteFile(filepath.Join(folder, file), []byte(w.config(modules.String())), 0o600)
}

// ownFolder begins the name of the folder of our modules.
const ownFolder = "pages-"

// tasks is the name of tasksScript.
func (w *Worker) tasks() string { return w.folder + ":tasks" }

func quoteModule(path string) string { return strconv.Quote(path) }

func (w *Worker) config(modules string) string {
	services, bindings := w.wire.Workerd()
	// By this date Node.js is on by default; our script needs AsyncLocalStorage in any case.
	flags := []string{`"no_nodejs_compat"`, `"no_nodejs_compat_v2"`, `"nodejs_als"`}
	if w.o.NodeJS {
		flags = nil
	}
	if w.o.Web.StrictlyPublic {
		flags = append(flags, `"global_fetch_strictly_public"`)
	}
	return fmt.Sprintf(`using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  v8Flags = ["--max-heap-size=%d"],
  logging = (stdoutPrefix = "", stderrPrefix = ""),
  services = [
    (name = %s, worker = (
      modules = [
%s],
      compatibilityDate = %q, compatibilityFlags = [%s],
      globalOutbound = "wire:outbound", cacheApiOutbound = "wire:cache",
      bindings = [%s])),
%s  ],
  extensions = [(modules = [(name = %s, internal = false, esModule = %s)])],
  sockets = [(name = %q, http = (style = proxy, cfBlobHeader = %q), service = %[2]s)]
);
`, heapMB, wire.Text(w.service()), modules, compatibilityDate, strings.Join(flags, ", "), bindings, services,
		wire.Text(w.tasks()), wire.Text(tasksScript), frontName, cfHeader)
}
