package host

import (
	"runtime"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/migrate/dbfile"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// This file bounds one site's use of shared resources: time, disk, files, connections and processors.

// migrationTime bounds the migrations of one release. A scheduled publish has no client that gives up, and would
// otherwise run an endless migration without end.
const migrationTime = 2 * time.Minute

// databaseBytes is how large the database of a published site, of a preview, and of a project may grow, as at D1. Growth
// beyond it fails with SQLITE_FULL, as there; the rows that exist can be read and deleted. The platform that sells
// namespaces and buckets gives them no bound, and the document names none: here, where all sites share a disk, each has
// the same one, and so have the files that come with a site's forms.
const databaseBytes = 10_000_000_000

// SQLite sorts in temporary files, which have bounds of their own: one for a file, and one for the files of all sites
// together. A site that uses much leaves others little for the time of a query, but never fills the disk.
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
	// maxOpenSites is how many sites are open at a time, also where the system allows more files: each takes one to two
	// megabytes.
	maxOpenSites = 256
	// SiteFiles is how many files a busy site has open: the connections of its five databases, each with the write-ahead
	// log, and the index of each log. The database of its Worker counts with the connections of one Worker.
	SiteFiles = 2*(d1.MaxConns+3*localstate.StoreConns+localstate.UsualConns) + 5
	// OtherFiles are left to connections, to the service's own databases, and to objects of buckets that are read and
	// written.
	OtherFiles = 256
)

// openConns returns how many connections may be open at a time in a process that may have so many files: each connection
// may have a file besides, and the databases of open sites need theirs.
func openConns(files uint64) int {
	const least, most = 256, 8192
	taken := uint64(OtherFiles + openSites(files)*SiteFiles)     //nolint:gosec // a few thousand at most
	return int(min(max(files, taken+2*least)-taken, 2*most) / 2) //nolint:gosec // most at most
}

// MaxConns returns how many connections this process may have open at a time.
func MaxConns() int { return openConns(mostFiles()) }

// minRequests is the least number of requests for one site that may be under way at a time. It may take a quarter of
// all connections: a slow site must not occupy all.
const minRequests = 128

// openSites returns how many sites may be open at a time in a process that may have so many files.
func openSites(files uint64) int {
	if files <= OtherFiles+SiteFiles {
		return 1
	}
	return int(min(maxOpenSites, (files-OtherFiles)/SiteFiles)) //nolint:gosec // maxOpenSites at most
}

// processFiles is how many files the service has open for a process of workerd: its output, its clock, and the connections on which
// requests go there and calls come back.
const processFiles = 64

// processes returns how many processes of workerd may run at a time beside a service that may have so many files: a quarter is theirs.
func processes(files uint64) int {
	const least, most = 2, 1 << 10
	return int(min(max(files/4/processFiles, least), most)) //nolint:gosec // most at most
}

const (
	// minTurns is how many turns of a site run at a time on a machine with one processor.
	minTurns = 2
	// greedySites is how many sites may use all their turns before others wait for Go's scheduler.
	greedySites = 2
	// maxSpare bounds the extra threads where there are many processors: threads cost the collector.
	maxSpare = 16
)

// ShareProcessors bounds the turns of each site's Worker that run at a time, and adds threads for those of other sites.
// It changes the whole process. Go preempts the goroutine of a long turn only every 10 ms: with as many long turns as
// processors, each step of another request would wait for that long. The system's scheduler is fairer to threads that
// work little, and gets more of them to choose from.
func (h *Host) ShareProcessors() {
	processors := runtime.GOMAXPROCS(0)
	h.turns = max(minTurns, processors)
	runtime.GOMAXPROCS(processors + min(greedySites*h.turns, maxSpare))
}
