package bundler

import (
	"slices"
	"strings"
)

// nodeModules are the modules of Node.js 24 that can be imported without
// "node:", https://nodejs.org/api/modules.html#built-in-modules, and, last,
// those that cannot.
var nodeModules = strings.Fields(`
assert assert/strict async_hooks buffer child_process cluster console constants
crypto dgram diagnostics_channel dns dns/promises domain events fs fs/promises
http http2 https inspector inspector/promises module net os path path/posix
path/win32 perf_hooks process punycode querystring readline readline/promises
repl stream stream/consumers stream/promises stream/web string_decoder sys
timers timers/promises tls trace_events tty url util util/types v8 vm wasi
worker_threads zlib
sea sqlite test test/reporters`)

// onlyPrefixed reports whether "node:" cannot be left out, so that the bare
// name is that of an npm package.
func onlyPrefixed(name string) bool {
	return name == "sea" || name == "sqlite" || name == "test" || name == "test/reporters"
}

// isNodeModule reports whether name, without "node:", is one of Node.js's.
func isNodeModule(name string) bool {
	return slices.Contains(nodeModules, name)
}
