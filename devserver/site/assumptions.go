package site

import (
	"time"

	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// This file holds the choices that the platform document leaves open. Each may change without a change of the API.
//
// Routes. A listed route is answered by the Worker, except that a GET or HEAD whose path leads to an existing asset
// gets the asset, behind the same gate: one manifest may hold members pages rendered by the Worker and members pages
// that are plain files. Without a Worker every path is static.
//
// Identity. The Worker hears who is signed in on members routes only.
//
// Static files. "/about" is about.html, "/about.html" leads to "/about", "/dir" leads to "/dir/", which is
// dir/index.html, and the nearest 404.html upwards answers, with 404, where there is nothing.
//
// The files "_headers" and "_redirects" count as they do for Workers' static assets at
// Cloudflare; a 200 rule answers with the file that it names, where Cloudflare leads
// from "/page.html" to "/page". On members pages no rule makes an answer public.
//
// Dates. Last-Modified is the time of the file on disk, and later when contents
// changed and the time did not; a time before 1990, or yet to come, is none.
//
// Compression. Text is compressed, of files and of Workers, with what the client likes
// best of br, zstd and gzip; not below 1 KiB, not above 32 MiB of a file, and
// not what is a part, an event stream, encoded by the Worker or "no-transform".
//
// Sign-in. Any email can be signed in with while there are personas; an email that is no persona's is a member's.
//
// Forms. The fields "form", "_next" (where to go afterwards) and "_token" (an idempotency key) are for the platform and
// are not stored; every other name, whatever it looks like, is the author's, and gets an array where it comes more than
// once; two names of forms are refused. A post without a single answer and without a form's name says nothing and is
// refused. Of an uploaded file the lead says name, media type, size and SHA-256; the bytes are an object of their own,
// which whoever may read the leads can save, and the site's code cannot. A submissions row gets the fields whose names
// are columns of the table, except generated columns and the rowid, and the columns "form", "lead_id", "created_at" and
// "fields" where the table has them, and "data", which is the same as "fields" unless the form has a field of that
// name.
//
// Webhook. An event is sent as Standard Webhooks has it, in the order of its form: the next one waits until the one
// before is delivered or given up. Forms do not wait for each other.
const (
	// reservedPrefix is the part of the site that belongs to the platform.
	reservedPrefix = "/" + sitepath.ReservedPages

	// defaultForm names a lead whose post carried no form name.
	defaultForm = "default"

	// Limits of a form post.
	maxFormBytes   = 1 << 20  // of all text together, and of a urlencoded or JSON body
	maxFormFields  = 100      // values, not counting "form", "_next" and "_token"
	maxFieldBytes  = 64 << 10 // of one value
	maxFieldName   = 16 << 10 // bytes of one name
	maxFormFiles   = 5        // non-empty ones
	maxFormParts   = 1000     // of a multipart body, also those that are no answers
	maxFileBytes   = 5 << 20  // each
	maxJSONDepth   = 64       // objects and arrays in each other
	maxFormName    = limits.MaxName
	maxTokenBytes  = 200     // of an idempotency key
	maxPathBytes   = 8 << 10 // of the request target
	maxHeaderLines = 100     // header lines, of a request and of a part of a form
	maxFileName    = 255     // bytes kept of the name of an uploaded file
	capturedBytes  = 8 << 20 // of leads that are read at once, for a workspace
	pieceBytes     = 1 << 20 // of leads or events that are read at once, for a list
	rowBytes       = 500     // of a row in a list beside what was sent

	// Sessions end after so long without use, and after so long altogether.
	sessionIdle = 12 * time.Hour
	sessionLife = 7 * 24 * time.Hour
	// Whoever asks for a link to sign in waits linkTime: to store and send one takes some
	// milliseconds, which would tell whose email is a member's.
	linkTime = 100 * time.Millisecond

	// A delivery may take webhookTime. After the n-th failure it waits
	// webhookPause doubled n-1 times, at most webhookMost, and it is given up after webhookTries.
	webhookTime  = 10 * time.Second
	webhookPause = time.Second
	webhookMost  = 5 * time.Minute
	webhookTries = 10
	// webhookAtOnce deliveries may be on their way, each of another form.
	webhookAtOnce = 8
	// webhookPoll is how soon a replay asked for by another process is noticed.
	webhookPoll = time.Second

	// keptRequests is how many request records stay in memory.
	keptRequests = 500
	// Files up to cachedFileBytes stay in memory, as long as there is room in the cache: cacheBytes for a site that has
	// one of its own. Those from memoryFileBytes on are there a second time, for the kernel to send from.
	cachedFileBytes = 1 << 20
	memoryFileBytes = 128 << 10
	cacheBytes      = 64 << 20

	// maxStoredBytes is how large the database of leads may grow with forms, which anybody may
	// send, as large as a site's own database. What comes then is refused and what is there
	// stays; sessions are stored all the same, so that members can read it.
	maxStoredBytes = 10_000_000_000
)
