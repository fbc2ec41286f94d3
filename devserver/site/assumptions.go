package site

import (
	"time"

	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// This file holds the choices that the platform document leaves open. Each may change without a change of the API.
//
// Routes. The Worker answers a listed route, except that a GET or HEAD whose path resolves to an existing asset gets the
// asset, behind the same gate: one manifest may hold members pages rendered by the Worker and members pages that are
// plain files. Without a Worker every path is static.
//
// Identity. The Worker learns who is signed in on members routes only.
//
// Static files. "/about" is about.html, "/about.html" redirects to "/about", "/dir" redirects to "/dir/", which is
// dir/index.html, and a path without a file gets the nearest 404.html upwards, with 404.
//
// The files "_headers" and "_redirects" work as for Workers' static assets at Cloudflare. A 200 rule that would lead back to
// itself there, "/* /index.html 200", answers paths that no other rule, no file and no Worker answers, as at Netlify. No
// rule makes a response for members public.
//
// Dates. Last-Modified is the time of the file on disk, and later when contents changed and the time did not; there is
// none for a time before 1990 or in the future.
//
// Compression. Text of files and of Workers is compressed, with the client's favourite of br, zstd and gzip; not below
// 1 KiB, not above 32 MiB of a file, and not parts, event streams, responses that the Worker has encoded, or "no-transform".
//
// Sign-in. Any email can sign in while there are personas; an email without a persona is a member's.
//
// Forms. The fields "form", "_next" (the page to redirect to), "_token" (an idempotency key), "_stamp", "altcha" and the
// honeypots ([spam.Honeypots]) are the platform's and are not stored; every other name is the author's, and gets an array where it
// comes more than once; two names of forms are refused. A post with neither an answer nor a form's name is refused. Of an
// uploaded file the lead has name, media type, size and SHA-256; the bytes are an object of their own, for readers of the
// leads and not for the site's code. A submissions row gets the answers whose names are columns of the table, and "form",
// "lead_id", "created_at", "fields" and "data" where the table has them; devserver/formrow has the rules. The manifest
// cannot list the fields of a form, so its page does: an answer fills a column if a form of that name has a field of that
// name in the HTML of the site. A form in no page fills columns, but no part of a key, if the manifest declares it: a
// Worker or a script shows it. Any other fills none. With the dev server of a framework, whose pages are not known, each
// counts as declared. The lead has all answers in any case.
//
// Origins. A page of any origin may send a form, and so may a script that reads no response. A script that reads it may if the rules
// of "_headers" allow its origin at the form's address, since a lead whose sender saw a failure would come twice.
//
// Sign-out. A browser is redirected to /__pages/signed-out, which leads on to "next" (signout.go); other clients go to "next" at once.
//
// Members. A form for members that comes signed out is answered by a page with its answers, up to 256 KiB, to be sent again. They
// are in that page alone. Those of another site's page are not kept, since that page would have its visitor send them.
//
// Spam. Every form post is scored ([spam.Score]). Spam is stored as a lead and kept apart: it raises no event and writes no
// row until a person marks it as ham, which does that once. Its sender gets the response of a lead. A lead that a person marks
// as spam keeps the events that it raised and the row that it wrote, and events that are not delivered yet wait.
//
// Proofs of work. No post needs one, unless the site asks for them ([Site.SetProofOfWork]). Then a post that a script sends is
// refused without one: whatever runs a script can do it. The post of a page may be of a browser without JavaScript: it is stored,
// and a missing proof is one sign of spam, which is not enough alone.
//
// Webhook. Events are sent by Standard Webhooks, in the order of their form: the next one waits until the one before is
// delivered or given up. Forms do not wait for each other.
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
	maxFormParts   = 1000     // of a multipart body, including parts other than answers
	maxFileBytes   = 5 << 20  // each
	maxJSONDepth   = 64       // objects and arrays in each other
	maxFormName    = limits.MaxName
	maxTokenBytes  = 200     // of an idempotency key
	maxPathBytes   = 8 << 10 // of the request target
	maxHeaderLines = 100     // header lines, of a request and of a part of a form
	maxFileName    = 255     // bytes kept of the name of an uploaded file
	capturedBytes  = 8 << 20 // of leads that are read at once, for a workspace
	pieceBytes     = 1 << 20 // of leads or events that are read at once, for a list
	rowBytes       = 500     // of a row in a list beside its fields

	// Sessions end after so long without use, and after so long altogether.
	sessionIdle = 12 * time.Hour
	sessionLife = 7 * 24 * time.Hour
	// A request for a sign-in link takes linkTime: the milliseconds to store and send one would reveal whose email is a
	// member's.
	linkTime = 100 * time.Millisecond

	// A delivery may take webhookTime. After the n-th failure it waits webhookPause doubled n-1 times, at most
	// webhookMost, and it is given up after webhookTries.
	webhookTime  = 10 * time.Second
	webhookPause = time.Second
	webhookMost  = 5 * time.Minute
	webhookTries = 10
	// webhookAtOnce deliveries may be under way, each of another form.
	webhookAtOnce = 8
	// webhookPoll is how soon a replay of another process is noticed.
	webhookPoll = time.Second

	// keptRequests is how many request records stay in memory.
	keptRequests = 500
	// Files up to cachedFileBytes stay in memory, as long as there is room in the cache: cacheBytes for a site that has
	// one of its own. Those from memoryFileBytes on are there a second time, for the kernel to send from.
	cachedFileBytes = 1 << 20
	memoryFileBytes = 128 << 10
	cacheBytes      = 64 << 20

	// stampScript times a page for [spam.ReadStamp]: "/__pages/forms/stamp.js". No form can be called that.
	stampScript = "stamp.js"
	// challengeFile is a challenge for a proof of work: "/__pages/forms/altcha.json".
	challengeFile = "altcha.json"

	// maxStoredBytes is how large the database of leads may grow with forms, which anybody may send: as large as a site's
	// own database. Later posts are refused and stored leads stay; sessions are stored all the same, so that members can
	// read them.
	maxStoredBytes = 10_000_000_000
)
