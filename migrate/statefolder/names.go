package statefolder

import (
	"regexp"
	"slices"
	"strings"
	"sync"
)

// This file lists every name that a state folder may hold, at every depth, including names that crashes of
// this and earlier versions leave. Add a new file of the state here first.

// Names of the top level.
const (
	SiteFile     = "site.db"     // bindings.database
	ProjectFile  = "project.db"  // bindings.projectDatabase
	PlatformFile = "platform.db" // leads, events, the webhook's queue, sessions, the request log
	KVFile       = "kv.db"       // large values in pieces
	CacheFile    = "cache.db"    // cached responses of Workers

	StorageFolder = "storage" // blobs by their content, and their index
	UploadsFolder = "uploads" // the same, of files that visitors sent with forms

	DevFile           = "dev.json"                 // the running process, and its token
	DevLogFile        = "dev.log"                  // the output of a server in the background
	HistoryFile       = "db_history"               // of pages db shell
	ToldFolder        = "told"                     // messages of commands to a dev server
	UndoFolder        = "undo"                     // the database before each of the last migrations
	PointsFile        = "restorepoints.db"         // of a published site
	DamagedPointsFile = "restorepoints-damaged.db" // a damaged store, renamed
	PublishFile       = "publish.json"             // the migrations of a published site that wait for a decision
	SnapshotsFolder   = "snapshots"                // of pages state save
	IgnoreFile        = ".gitignore"

	DevLock       = "dev.lock" // held by the running process
	StateLock     = "state.lock"
	SnapshotsLock = "snapshots.lock"
	MigrateLock   = "migrate.lock"

	// IndexFile is the index of a bucket, in its folder.
	IndexFile = "index.db"
	// LoadFolder holds the next state while a snapshot is loaded.
	LoadFolder = ".load"
)

// IgnoreText is the contents of IgnoreFile: sessions and leads do not belong into version control.
const IgnoreText = "*\n"

// node is an allowed name, and the names in it if it is a folder.
type node struct {
	fits   func(name string) bool
	class  Class
	folder bool
	within []node
	unseen bool // Look does not open the folder: its reader does, such as a snapshot with its own list of files
}

func is(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

// like compiles a pattern on first use: most commands do not open a state.
func like(pattern string) func(string) bool {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(?:` + pattern + `)$`) })
	return func(name string) bool { return compiled().MatchString(name) }
}

// blob matches the SHA-256 of a file's bytes in hex. A bucket has too many for a regular expression.
func blob(name string) bool {
	return len(name) == 64 && strings.Trim(name, "0123456789abcdef") == ""
}

// database returns the pattern of a database and of the files that SQLite writes beside it.
func database(name string) string { return regexp.QuoteMeta(name) + `(?:-wal|-shm|-journal)?` }

// snapshotName is the pattern of snapshot.CheckName.
const snapshotName = `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`

// bucket is a folder of files named by their content.
func bucket(name string) node {
	return node{fits: is(name), class: State, folder: true, within: []node{
		{fits: like(database(IndexFile)), class: State},
		{fits: is("blobs"), class: State, folder: true, within: []node{{fits: blob, class: State}}},
		{fits: is("incoming"), class: Unfinished, folder: true, within: []node{{fits: like(`[A-Z2-7]{26}`), class: Unfinished}}},
	}}
}

// states are the names in a snapshot.
var states = []node{
	{fits: like(database(SiteFile) + "|" + database(ProjectFile) + "|" + database(PlatformFile)), class: State},
	{fits: like(database(KVFile) + "|" + database(CacheFile)), class: State},
	{fits: is(SiteFile+".part", KVFile+".part"), class: Unfinished}, // of a preview that is being made
	bucket(StorageFolder),
	bucket(UploadsFolder),
}

// all are the names of a state folder.
var all = append(slices.Clone(states), []node{
	{fits: is(DevLock, StateLock, SnapshotsLock, MigrateLock, DevFile, DevLogFile, HistoryFile, IgnoreFile), class: Kept},
	{fits: like(`\.probe-[0-9]+`), class: Kept}, // tests whether files can be created
	{fits: is(ToldFolder), class: Kept, folder: true, within: []node{{fits: is("migrated"), class: Kept}}},
	{fits: is(UndoFolder), class: Kept, folder: true, within: []node{
		{
			fits: like(database("undone.db") +
				`|[0-9]{6,}_[0-9]{8}T[0-9]{6}Z_[0-9]+\.db(?:-wal|-shm|-journal)?` +
				`|\.saving-[0-9]+(?:-wal|-shm|-journal)?`),
			class: Kept,
		},
		{fits: like(`\.saving-[0-9]+`), class: Kept, folder: true, within: []node{{fits: like(database("new.db")), class: Kept}}},
	}},
	{fits: is(SnapshotsFolder), class: Kept, folder: true, within: []node{
		{fits: like(`(?:\.saving-|\.saving-removed-|\.replaced-)?` + snapshotName), class: Kept, folder: true, within: []node{
			{fits: is("snapshot.json", "snapshot.json.new"), class: Kept},
			{fits: is("files"), class: Kept, folder: true, within: states, unseen: true},
		}},
	}},
	{fits: is(LoadFolder), class: Kept, folder: true, within: []node{
		{fits: is("commit.json", "commit.json.new"), class: Kept},
		{fits: is("new"), class: Kept, folder: true, within: states},
	}},
	// Of a published site: its previews, its restore points, restores in progress, and migrations while they run or wait.
	{fits: like(database(PointsFile) + "|" + database(DamagedPointsFile)), class: Kept},
	{fits: like(`restore-[0-9a-f-]{36}\.(?:json|db(?:-wal|-shm|-journal)?)`), class: Kept},
	{fits: is(PublishFile), class: Kept},
	{fits: is("previews"), class: Kept, folder: true, unseen: true},
	{fits: is("named-previews"), class: Kept, folder: true, unseen: true},
	{fits: like(`migrations-[0-9]+`), class: Kept, folder: true, unseen: true},
}...)

// litter matches files that desktops, editors, file systems and version control leave in any folder.
var litter = like(`\.DS_Store|\.localized|Icon\r|\._.*|\.AppleDouble|\.Spotlight-V100|\.Trashes|\.fseventsd|\.TemporaryItems|\.apdisk` +
	`|(?i:Thumbs\.db|ehthumbs\.db|desktop\.ini|\$RECYCLE\.BIN|System Volume Information)` +
	`|\.directory|\.Trash-[0-9]+|lost\+found|\.nfs[0-9a-f]+|\.fuse_hidden[0-9a-f]+|@eaDir` +
	`|\..*\.sw[a-p]|\..*\.un~|.*~|#.*#|\.#.*|4913|\.~lock\..*#` +
	`|\.gitkeep|\.keep|\.nobackup|\.nomedia|CACHEDIR\.TAG`)
