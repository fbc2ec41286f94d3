// Command artifacts makes the generated files of the binary, which are not in the repository:
//
//	runtime/engine/artifact/quickjs.wasm   QuickJS-NG from npm, with the fuel counter put in
//	runtime/engine/quickjs/translation.go  the same as Go, translated by wasm2go
//	runtime/artifact/prelude.js            the web globals and bindings, as one script
//	runtime/workerd/artifact/prelude.js    the script around a Worker in workerd, as one module
//	npm/bindings.mjs                       the bindings for a process of Node.js, as one module
//	runtime/node/artifact/modules.zip      the modules of Node.js for nodejs_compat
//	runtime/intl/dictionary/artifact/words.zip
//	                                       rules and dictionaries for words and sentences, of ICU
//
// It installs the npm packages of the lock files, and makes only outdated artifacts: beside every artifact's folder is a
// stamp, in the format of sha256sum, of the artifact and all its inputs. It needs the go command, and npm when a package is
// missing. Progress and errors go to standard error. Two runs at once wait for each other.
//
//	go run ./cmd/tools/artifacts [-C dir] [-f] [quickjs] [translation] [prelude] [workerd] [node] [npm] [words]
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stderr)
	stop()
	os.Exit(code)
}
