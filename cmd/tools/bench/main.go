// Command bench measures `pages dev` against `wrangler dev` on one machine, in
// one go, on the same site: a Worker that answers JSON through Hono, and static
// files, which `caddy file-server` serves as well.
//
//	start    from exec to the first right answer of the Worker, polled from outside
//	json     requests a second of the Hono route, 16 connections
//	static   requests a second of a file of 10 kB, and of one of 1 MB, 16 connections
//	memory   the peak of all processes together, while they start and are loaded
//	save     from writing the source to the first answer that shows it
//	visible  from writing the source to a page in a real Chromium that shows it, which
//	         the server's own live reload brings up to date, a second after the last one
//	idle     processor time of a server that watches 20,000 files, and is left alone
//
// and `pages validate` against what else checks JSON:
//
//	manifest     one site's manifest as a whole process, against `jq . file`
//	manifests    1,000 manifests of 2 kB in one process, against ajv-cli with a
//	             process for each, and against ajv in one process of Node.js, with
//	             and without the start of the process
//
// and `pages migrate`:
//
//	migrations   1,000 small files on an empty database against sqlite3, which runs
//	             each in a transaction as durable as ours, and 50 against wrangler's
//	             local database
//	status       of 1,000 applied files, in this process, against reading the files
//
// and the runtime itself:
//
//	hello     the Hono route against wrangler dev and against workerd as it is, the
//	          99th percentile too, and with --isolation=request against without
//	stream    100 MB that the Worker makes in pieces
//	isolate   the memory of one more isolate
//	native    a megabyte of each function that is native on the platform, against
//	          Node.js: our side by the meter of the request, Node.js by the clock, either
//	          by the time of the processors where that is less
//	pure      what is JavaScript alone, against Node.js, and against the engine of its
//	          npm package in wazero, before anything was done to it
//
// and what a Worker is bound to:
//
//	bindings  requests a second of one call each of the database, keys and storage,
//	          against wrangler dev; a thousand awaited reads of a row in one request,
//	          against the same loop through database/sql; a million keys and 10 GB of
//	          objects listed page by page. The objects are copies of one: each has its
//	          own row of the index, and their bytes are on disk once
//
// and `pages deploy`, to a service on the same disk:
//
//	deploy    10,000 files for the first time against copying them, synced, into a
//	          content store; again with one file changed against the first time; the
//	          plan of 20,000 unchanged files against sha256sum over them; the memory of
//	          client and service meanwhile
//
// and `pages platform`:
//
//	platform  authenticated calls a second and how their times spread; the memory that
//	          grows over a million calls; pages of content.status with a million pieces
//	          at the worst depth, against those with a thousand; the start with 1 GB of
//	          data against the start with none
//
// All sides take turns, round by round, and medians are compared, so that a
// noisy minute hits all. --for bounds the time of all of it: the first round of a
// part is always taken, others as long as there is time. Standard output is the
// table, or JSON; --out writes it to a Markdown file too, with the commands, the
// machine and the versions. A peer that is not there, and a part that failed, are
// rows that say so. Standard error tells what goes on. Exit code 0 when every
// promise that could be measured was kept, 1 when one was broken or a part could
// not be measured, 2 for wrong usage. Only processes that it started are ended.
//
//	go run ./cmd/tools/bench [--wrangler PATH] [--node PATH] [--caddy PATH] [--chromium PATH] [--ajv FOLDER] [--for 14m] [--out FILE] [dev] [validate] [migrate] [runtime] [bindings] [deploy] [platform]
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
