package bundler

import (
	"slices"
	"strings"
)

// nodeModules are the modules of Node.js 24 that can be imported without
// "node:", https://nodejs.org/api/modules.html#built-in-modules, and, last,
// those that cannot; and, first, parts of others that have names of their own.
var nodeModules = strings.Fields(`
_http_agent _http_client _http_common _http_incoming _http_outgoing _http_server
_stream_duplex _stream_passthrough _stream_readable _stream_transform
_stream_wrap _stream_writable _tls_common _tls_wrap
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
