// Command bench measures `pages` against its peers on one machine, in one go: `pages dev` against `wrangler dev` and
// caddy, `pages validate` against jq and ajv, `pages migrate` against sqlite3 and wrangler, the runtime against workerd,
// Node.js and the engine of the npm package, bindings against wrangler's, `pages deploy` against copying and sha256sum,
// and `pages platform` against bounds. The rows, their promises and the commands behind them are in the tables of each
// part, and in BENCHMARKS.md.
//
// All sides take turns, round by round, and medians are compared, so that a noisy minute hits all. --for bounds the time
// of all of it: the first round of a part is always taken, others as long as there is time. Standard output is the table,
// or JSON; --out writes it to a Markdown file too, with the machine and the versions. A peer that is not there, and a part
// that failed, are rows that say so. Standard error tells the progress. Exit code 0 when every promise that could be
// measured was kept, 1 when one was broken or a part could not be measured, 2 for wrong usage. Only processes that it
// started are ended.
//
//	go run ./cmd/tools/bench [--wrangler PATH] [--node PATH] [--caddy PATH] [--chromium PATH] [--ajv FOLDER] [--for 14m] [--out FILE]
//		[dev] [validate] [migrate] [runtime] [bindings] [deploy] [platform]
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	b := &bench{environ: os.Environ(), stdout: os.Stdout, stderr: os.Stderr, now: time.Now}
	code := b.run(ctx, os.Args[1:])
	stop()
	os.Exit(code)
}
