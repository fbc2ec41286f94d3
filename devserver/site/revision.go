package site

import (
	"net/http"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// Worker answers the requests that the route table gives to code.
//
// Serve gets a request whose URL and RequestURI are canonical, without the
// internal headers a client may have forged and without the session cookie.
// On members routes x-pages-member-id, -email and -name tell who is signed in.
// [SetMeter] says what the request cost.
// An error means that nothing was written yet: the site answers with
// [Options.ErrorPage]. No error after [SetFailure] means that the answer broke off:
// the site has it look like a part. Serve is called concurrently.
type Worker interface {
	Serve(w http.ResponseWriter, r *http.Request) error
}

// Revision is everything a site serves at one moment. The zero value is a site without a page.
type Revision struct {
	// ID names the revision in records and in the state document.
	ID string
	// Manifest holds routes, forms and limits; nil means an empty one.
	Manifest *manifest.Manifest
	Assets   []sitefile.Asset
	// AssetsDir is the absolute folder that holds every Asset.File. No file
	// outside it is ever opened, whatever links it contains. When empty, each
	// file may only be in its own folder.
	AssetsDir string
	// Rules are what the files "_headers" and "_redirects" say; nil for nothing.
	// The files themselves are never served, whether or not they are among the Assets.
	Rules *edgerules.Rules
	// Worker answers the listed routes; nil for a static site.
	Worker Worker
	// StandIn says that the Worker answers form posts too: it stands in for a site of
	// which it is not known what its forms raise.
	StandIn bool
	// Drained, when set, is called once, on its own goroutine, after the
	// revision was swapped out and its last request has finished: the moment
	// to close the Worker. [Site.Close] waits for it.
	Drained func()
}
