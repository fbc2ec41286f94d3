package localstate

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/runtime/binding"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
	"github.com/pages-toolchain/pages/runtime/binding/images"
	"github.com/pages-toolchain/pages/runtime/binding/kv"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
	"github.com/pages-toolchain/pages/runtime/web/cache"
)

// Stores hold the data of a site's bindings. Each store opens when a manifest first needs it, and stays open until the state closes. The
// bucket and the namespace are safe for concurrent use.
type Stores struct {
	o             StoresOptions
	opening       sync.Mutex // guards the stores below, and the state's open databases
	kv            *kv.Namespace
	bucket        *r2.Bucket
	uploads       *r2.Bucket // files of leads
	roots         []*os.Root // of the two
	ProjectFolder *sql.DB
}

// StoresOptions configure the stores of a site.
type StoresOptions struct {
	State         *State
	ProjectFolder string // folder of the project database; "" for the state folder
	Images        *images.Queue
	Failed        func(error) // gets the errors of writes; may be nil
	Now           func() time.Time
}

// NewStores returns the stores of a state. Close them before the state.
func NewStores(o StoresOptions) *Stores { return &Stores{o: o} }

// Bindings returns the content of env for the manifest.
func (s *Stores) Bindings(
	ctx context.Context, m *manifest.Manifest, site *sql.DB, secrets map[string]string, assets http.Handler,
) (*binding.Set, error) {
	set := &binding.Set{
		D1: map[string]*d1.Database{}, KV: map[string]*kv.Namespace{}, R2: map[string]*r2.Bucket{},
		Images: map[string]*images.Binding{}, Assets: map[string]http.Handler{}, Secrets: secrets,
	}
	if m.Bindings.Database != nil {
		set.D1[manifest.DatabaseName] = s.database(site, false)
	}
	if err := s.addProject(ctx, m, set); err != nil {
		return nil, err
	}
	if m.Bindings.KV != nil {
		namespace, err := s.OpenKV(ctx)
		if err != nil {
			return nil, err
		}
		set.KV[m.Bindings.KV.Name] = namespace
	}
	if m.Bindings.Storage != nil {
		bucket, err := s.OpenBucket(ctx)
		if err != nil {
			return nil, err
		}
		set.R2[m.Bindings.Storage.Name] = bucket
	}
	if m.Bindings.Images {
		set.Images[manifest.ImagesName] = images.New(images.Options{Queue: s.o.Images})
	}
	if m.Assets != "" {
		set.Assets[manifest.AssetsName] = assets
	}
	return set, nil
}

// addProject adds the project database with the declared access.
func (s *Stores) addProject(ctx context.Context, m *manifest.Manifest, set *binding.Set) error {
	access := m.Bindings.ProjectDatabase
	if access == "" || access == manifest.ProjectNone {
		return nil
	}
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.ProjectFolder == nil {
		shared := *s.o.State
		if s.o.ProjectFolder != "" {
			shared.Dir, shared.judged = s.o.ProjectFolder, false
			if err := shared.Check(); err != nil {
				return err
			}
			if err := os.MkdirAll(shared.Dir, 0o700); err != nil {
				return shared.WriteError(err)
			}
		}
		db, err := shared.Open(ctx, statefolder.ProjectFile)
		if err != nil {
			return err
		}
		s.o.State.dbs = shared.dbs
		s.ProjectFolder = db
	}
	set.D1[manifest.ProjectDatabaseName] = s.database(s.ProjectFolder, access == manifest.ProjectRead)
	return nil
}

// database is a Worker's own connection to db, closed with it.
func (s *Stores) database(db *sql.DB, readOnly bool) *d1.Database {
	return d1.New(db, d1.Options{ReadOnly: readOnly, Now: s.o.Now, Failed: s.o.Failed})
}

// OpenKV returns the namespace.
func (s *Stores) OpenKV(ctx context.Context) (*kv.Namespace, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.kv == nil {
		db, err := s.o.State.Open(ctx, statefolder.KVFile)
		if err != nil {
			return nil, err
		}
		if s.kv, err = kv.New(db, s.o.Now); err != nil {
			return nil, fmt.Errorf("open %s: %w", statefolder.KVFile, err)
		}
		s.kv.Failed = s.o.Failed
	}
	return s.kv, nil
}

// OpenBucket returns the bucket.
func (s *Stores) OpenBucket(ctx context.Context) (*r2.Bucket, error) {
	return s.openStorage(ctx, statefolder.StorageFolder, &s.bucket)
}

// openStorage opens a bucket in a folder of the state, unless it is open.
func (s *Stores) openStorage(ctx context.Context, name string, bucket **r2.Bucket) (*r2.Bucket, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if *bucket != nil {
		return *bucket, nil
	}
	state := s.o.State
	dir := filepath.Join(state.Dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, state.WriteError(err)
	}
	db, err := state.Open(ctx, filepath.Join(name, statefolder.IndexFile))
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, state.WriteError(err)
	}
	s.roots = append(s.roots, root)
	if *bucket, err = r2.New(ctx, db, root, s.o.Now); err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	(*bucket).Failed, (*bucket).MaxBytes = s.o.Failed, state.Bounds.Bytes
	return *bucket, nil
}

// Close closes the folders of buckets; the databases are the state's.
func (s *Stores) Close() error {
	var errs []error
	for _, root := range s.roots {
		errs = append(errs, root.Close())
	}
	return errors.Join(errs...)
}

// NewCaches returns the caches (caches.default, caches.open) of the site whose state is in dir. They outlive its Workers. The database
// opens when a Worker first uses a cache; most Workers never do. Its commits reach the disk later, since a cache need not be durable.
func NewCaches(dir string, logger *slog.Logger) *cache.Store {
	return cache.New(cache.Options{Logger: logger, Open: func(ctx context.Context) (*sql.DB, error) {
		return OpenUnsynced(ctx, filepath.Join(dir, statefolder.CacheFile))
	}})
}
