package site

import (
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/edgerules"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// Worker answers the requests that the route table gives to code.
//
// Serve gets a request whose URL and RequestURI are those that the client sent ([Canonical] has the valid forms), without
// internal headers that a client may have forged and without the session cookie. On members routes x-pages-member-id, -email
// and -name name the signed-in member. [SetMeter] sets the cost of the request. An error means that nothing was written
// yet: the site answers with [Options.ErrorPage]. No error after [SetFailure] means that the response broke off: the site marks it
// as incomplete. Serve is called concurrently.
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
	// AssetsDir is the absolute folder that holds every Asset.File. The site opens no file outside it, whatever links it contains. If it is
	// empty, each file may only be in its own folder.
	AssetsDir string
	// Rules are those of the files "_headers" and "_redirects"; nil for none. The files themselves are never served,
	// whether or not they are among the Assets.
	Rules *edgerules.Rules
	// Worker answers the listed routes; nil for a static site.
	Worker Worker
	// Upstream answers instead of the Assets; nil for a site of files. Their rules then do not count.
	Upstream Upstream
	// StandIn means that the Worker answers form posts, too: it replaces a site whose forms are unknown.
	StandIn bool
	// Drained, if set, is called once, on its own goroutine, after the revision was swapped out and its last request has finished: the
	// Worker can then be closed. [Site.Close] waits for it.
	Drained func()
}

// serving is a revision in service: its lookup tables, and the count of the requests that use it.
type serving struct {
	*Routing

	revision Revision
	asked    askedOnce

	uses atomic.Int64 // requests in progress, plus one while it is the current revision
	end  func()       // called once, when uses is back at zero
}

func (s *Site) newServing(r Revision) *serving {
	v := &serving{revision: r, Routing: newRouting(r, s.options.Cache)}
	v.uses.Store(1)
	v.end = sync.OnceFunc(func() {
		s.drains.Go(func() {
			v.static.close()
			if r.Drained != nil {
				r.Drained()
			}
		})
	})
	return v
}

// acquire returns the current revision, which stays open until release.
func (s *Site) acquire() *serving {
	for {
		v := s.current.Load()
		v.uses.Add(1)
		// Swapped out between the two lines above, it may be closed already.
		if s.current.Load() == v {
			return v
		}
		v.release()
	}
}

func (v *serving) release() {
	if v.uses.Add(-1) == 0 {
		v.end()
	}
}
