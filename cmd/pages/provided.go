package main

import "github.com/pages-toolchain/pages/runtime/node"

// provided are the modules that the runtime brings, which the bundler leaves
// out: those of Node.js count under the flag nodejs_compat only.
func provided() []string {
	return append([]string{"cloudflare:sockets", "cloudflare:workers"}, node.Specifiers()...)
}
