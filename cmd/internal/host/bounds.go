package host

import (
	"runtime"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// This file bounds the shared resources of one site: time, disk, files, connections and processors.

// migrationTime bounds the migrations of one release. A scheduled publish has no client that gives up: without a bound, an endless
// migration would run permanently.
const migrationTime = 2 * time.Minute

// databaseBytes bounds the database of a published site, of a preview, and of a project, as at D1. Growth beyond it fails with SQLITE_FULL,
// as there; existing rows can be read and deleted. The platform does not bound namespaces and buckets. Here all sites share a disk, so each
// namespace, each bucket and the files from a site's forms have the same bound.
const databaseBytes = 10_000_000_000

// SQLite sorts in temporary files. One bound is for each file, and one for the files of all sites together. A large query of one site can
// leave others little room while it runs, but never fills the disk.
const (
	temporaryFS       = "pages-hosted"
	temporaryBytes    = 1_000_000_000
	temporaryTogether = 10_000_000_000
)

// boundTemporary registers the bound with SQLite, once.
var boundTemporary = sync.OnceValue(func() error {
	return (&dbfile.Temporary{PerFile: temporaryBytes, Together: temporaryTogether}).Register(temporaryFS)
})

const (
	// maxOpenSites is the number of sites that are open at a time, even if the system allows more files: each takes one to two megabytes.
	maxOpenSites = 256
	// SiteFiles is the number of files that a busy site has open: the connections of its five databases, each with its write-ahead log, and
	// the index of each log. Its Worker's database counts with the connections of one Worker.
	SiteFiles = 2*(d1.MaxConns+3*localstate.StoreConns+localstate.UsualConns) + 5
	// OtherFiles is the number of files for connections, the service's own databases, and open objects of buckets.
	OtherFiles = 256
)

// openConns returns the number of connections that may be open at a time in a process with this limit of files: each connection may need
// another file, and the databases of open sites need theirs.
func openConns(files uint64) int {
	const least, most = 256, 8192
	taken := uint64(OtherFiles + openSites(files)*SiteFiles)     //nolint:gosec // a few thousand at most
	return int(min(max(files, taken+2*least)-taken, 2*most) / 2) //nolint:gosec // most at most
}

// MaxConns returns the number of connections that this process may have open at a time.
func MaxConns() int { return openConns(mostFiles()) }

// minRequests is the least number of concurrent requests that one site may have. A site may take a quarter of all connections: a slow site
// must not occupy all.
const minRequests = 128

// openSites returns the number of sites that may be open at a time in a process with this limit of files.
func openSites(files uint64) int {
	if files <= OtherFiles+SiteFiles {
		return 1
	}
	return int(min(maxOpenSites, (files-OtherFiles)/SiteFiles)) //nolint:gosec // maxOpenSites at most
}

// processFiles is the number of files that the service has open for a process of workerd: its output, its clock, and the connections for
// requests to it and calls from it.
const processFiles = 64

// processes returns the number of workerd processes that may run at a time beside a service with this limit of files: they get a quarter.
func processes(files uint64) int {
	const least, most = 2, 1 << 10
	return int(min(max(files/4/processFiles, least), most)) //nolint:gosec // most at most
}

const (
	// minTurns is the number of turns of a site that run at a time on a machine with one processor.
	minTurns = 2
	// greedySites is the number of sites that may use all their turns before others wait for Go's scheduler.
	greedySites = 2
	// maxSpare bounds the extra threads on machines with many processors: each thread costs the garbage collector.
	maxSpare = 16
)

// ShareProcessors bounds the turns of each site's Worker that run at a time, and adds threads for those of other sites. It changes the
// whole process. Go preempts the goroutine of a long turn only every 10 ms: with as many long turns as processors, each step of another
// request would wait 10 ms. The system's scheduler is fairer to threads that work little, and the extra threads give it more to choose
// from.
func (h *Host) ShareProcessors() {
	processors := runtime.GOMAXPROCS(0)
	h.turns = max(minTurns, processors)
	runtime.GOMAXPROCS(processors + min(greedySites*h.turns, maxSpare))
}
