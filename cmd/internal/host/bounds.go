package host

import (
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// This file says how much one site may take of what all sites share: time, disk, files and connections.

// migrationTime is how long the migrations of one release may take. A scheduled
// publish has nobody who waits for it, and would otherwise run an endless one for ever.
const migrationTime = 2 * time.Minute

// databaseBytes is how large the database of a published site, of a preview, and of
// a project may grow, as D1's may. What would grow it further fails with SQLITE_FULL, as
// there; what is there can be read and deleted. Namespaces and buckets have no bound on the
// platform that sells them, and the document names none: here, where all sites share a disk,
// each has the same one, and so have the files that visitors sent with a site's forms.
const databaseBytes = 10_000_000_000

// What is sorted lies in temporary files, which have bounds of their own: one file, and all
// those of all sites at a time. A site that takes much leaves others little for a query's
// time, and the disk to all.
const (
	temporaryFS       = "pages-hosted"
	temporaryBytes    = 1_000_000_000
	temporaryTogether = 10_000_000_000
)

// boundTemporary makes the bound known to SQLite, once.
var boundTemporary = sync.OnceValue(func() error {
	return (&dbfile.Temporary{PerFile: temporaryBytes, Together: temporaryTogether}).Register(temporaryFS)
})

const (
	// mostOpenSites is how many sites are open at a time, also where the system would let
	// a process have more files: each takes one to two megabytes.
	mostOpenSites = 256
	// SiteFiles is how many files a site has open when it is busy: the connections of its five
	// databases, each with the write-ahead log, and the index of each log. Of the database of
	// its Worker those count that one Worker keeps.
	SiteFiles = 2*(d1.MaxConns+3*localstate.StoreConns+localstate.UsualConns) + 5
	// OtherFiles are left to connections, to the service's own databases, and to what a site
	// reads from its buckets and writes there at once.
	OtherFiles = 256
)

// openConns is how many connections may be open at a time in such a process: each may
// have a file besides, and the databases of what is visited are left theirs.
func openConns(files uint64) int {
	const least, most = 256, 8192
	taken := uint64(OtherFiles + openSites(files)*SiteFiles)     //nolint:gosec // a few thousand at most
	return int(min(max(files, taken+2*least)-taken, 2*most) / 2) //nolint:gosec // most at most
}

// MaxConns is how many connections this process may have open at a time.
func MaxConns() int { return openConns(mostFiles()) }

// openSites is how many sites may be open at a time in a process that may have so many
// files.
func openSites(files uint64) int {
	if files <= OtherFiles+SiteFiles {
		return 1
	}
	return int(min(mostOpenSites, (files-OtherFiles)/SiteFiles)) //nolint:gosec // mostOpenSites at most
}

// visitorsOf is how many requests for one site may be under way at a time, of so many connections: others find one free,
// whatever one site's visitors wait for.
func visitorsOf(conns int) int {
	const least = 128
	return max(least, conns/4)
}
