package site

import (
	"context"
	"database/sql"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/pages-toolchain/pages/manifest"
)

type StoreOptions struct {
	Now func() time.Time
}
type Store struct{}

func OpenStore(ctx context.Context, db *sql.DB, o StoreOptions) (*Store, error) {
	return &Store{}, nil
}
func (s *Store) Leads(ctx context.Context, f LeadFilter) ([]Lead, error)    { return []Lead{}, nil }
func (s *Store) Events(ctx context.Context, f EventFilter) ([]Event, error) { return []Event{}, nil }
func (s *Store) retrySubmissions(ctx context.Context, db *sql.DB) error     { return nil }
func (s *Site) AssetsHandler() http.Handler                                 { return http.NotFoundHandler() }
func (s *Site) ServeHTTP(w http.ResponseWriter, r *http.Request)            { http.NotFound(w, r) }
func (s *Site) reservedHandlers() map[string]http.HandlerFunc               { return nil }

type exchange struct {
	gated  bool
	member Member
	meter  atomic.Pointer[Meter]
}

func exchangeFrom(ctx context.Context) *exchange { return nil }

type sessions struct{}

func newSessions(ctx context.Context, o Options) (*sessions, error) { return nil, nil }

type pages struct{}

func newPages(o Options) (*pages, error) { return nil, nil }

type broker struct{}

func newBroker() *broker { return nil }
func (b *broker) close() {}

type ring struct{}

func newRing(n int) *ring                    { return nil }
func (r *ring) newestFirst() []RequestRecord { return nil }

type routeTable struct{}

func newRouteTable(r []manifest.Route) *routeTable { return nil }

type staticIndex struct{}

func newStaticIndex(a []Asset, dir string, t *routeTable) *staticIndex { return nil }
func (s *staticIndex) inherit(o *staticIndex)                          {}
func (s *staticIndex) close()                                          {}
