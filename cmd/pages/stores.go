package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"sync"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/runtime/binding"
)

// stores are what the bindings of a site keep things in. Each is opened when a
// manifest first asks for it, and stays open until the state is closed. The
// bucket and the namespace are safe for concurrent use.
type stores struct {
	run     *devRun
	failed  func(error) // is told what writes failed with; nil for nobody
	opening sync.Mutex  // of what is below, and of what the state keeps open
	kv      *binding.KV
	bucket  *binding.Storage
	uploads *binding.Storage // what visitors sent with forms
	roots   []*os.Root       // of the two
	project *sql.DB
}

func newStores(r *devRun) *stores { return &stores{run: r} }

// bindings is what env holds for the manifest.
func (s *stores) bindings(ctx context.Context, m *manifest.Manifest, site *sql.DB, secrets map[string]string, assets http.Handler) (*binding.Set, error) {
	set := &binding.Set{
		Databases: map[string]*binding.Database{}, KV: map[string]*binding.KV{}, Storage: map[string]*binding.Storage{},
		Images: map[string]*binding.Images{}, Assets: map[string]http.Handler{}, Secrets: secrets,
	}
	if m.Bindings.Database != nil {
		set.Databases[manifest.DatabaseName] = s.database(site, false)
	}
	if err := s.addProject(ctx, m, set); err != nil {
		return nil, err
	}
	if err := s.addKV(ctx, m, set); err != nil {
		return nil, err
	}
	if err := s.addBucket(ctx, m, set); err != nil {
		return nil, err
	}
	if m.Bindings.Images {
		set.Images[manifest.ImagesName] = binding.NewImages(binding.ImagesOptions{Queue: s.run.images})
	}
	if m.Assets != "" {
		set.Assets[manifest.AssetsName] = assets
	}
	return set, nil
}

// addProject adds the project database with the access the manifest declares.
func (s *stores) addProject(ctx context.Context, m *manifest.Manifest, set *binding.Set) error {
	access := m.Bindings.ProjectDatabase
	if access == "" || access == manifest.ProjectNone {
		return nil
	}
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.project == nil {
		shared := *s.run.state
		if s.run.flags.projectState != "" {
			shared.dir, shared.judged = s.run.path(s.run.flags.projectState), false
			if err := shared.judge(); err != nil {
				return err
			}
			if err := os.MkdirAll(shared.dir, 0o700); err != nil {
				return shared.unusable(err)
			}
		}
		db, err := shared.open(ctx, projectFile)
		if err != nil {
			return err
		}
		s.run.state.dbs = shared.dbs
		s.project = db
	}
	set.Databases[manifest.ProjectDatabaseName] = s.database(s.project, access == manifest.ProjectRead)
	return nil
}

// database is a Worker's own connection to db, closed with it.
func (s *stores) database(db *sql.DB, readOnly bool) *binding.Database {
	return binding.NewDatabase(db, binding.DatabaseOptions{ReadOnly: readOnly, Now: s.run.now, Failed: s.failed})
}

func (s *stores) addKV(ctx context.Context, m *manifest.Manifest, set *binding.Set) error {
	if m.Bindings.KV == nil {
		return nil
	}
	kv, err := s.openKV(ctx)
	set.KV[m.Bindings.KV.Name] = kv
	return err
}

// openKV returns the namespace.
func (s *stores) openKV(ctx context.Context) (*binding.KV, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if s.kv == nil {
		db, err := s.run.state.open(ctx, kvFile)
		if err != nil {
			return nil, err
		}
		if s.kv, err = binding.NewKV(db, s.run.now); err != nil {
			return nil, fmt.Errorf("open %s: %w", kvFile, err)
		}
		s.kv.Failed = s.failed
	}
	return s.kv, nil
}

func (s *stores) addBucket(ctx context.Context, m *manifest.Manifest, set *binding.Set) error {
	if m.Bindings.Storage == nil {
		return nil
	}
	bucket, err := s.openBucket(ctx)
	set.Storage[m.Bindings.Storage.Name] = bucket
	return err
}

// openBucket returns the bucket.
func (s *stores) openBucket(ctx context.Context) (*binding.Storage, error) {
	return s.openStorage(ctx, storageDir, &s.bucket)
}

// openStorage opens a bucket in a folder of the state, unless it is open.
func (s *stores) openStorage(ctx context.Context, name string, bucket **binding.Storage) (*binding.Storage, error) {
	s.opening.Lock()
	defer s.opening.Unlock()
	if *bucket != nil {
		return *bucket, nil
	}
	state := s.run.state
	dir := filepath.Join(state.dir, name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, state.unusable(err)
	}
	db, err := state.open(ctx, filepath.Join(name, indexFile))
	if err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, state.unusable(err)
	}
	s.roots = append(s.roots, root)
	if *bucket, err = binding.NewStorage(ctx, db, root, s.run.now); err != nil {
		return nil, fmt.Errorf("open %s: %w", name, err)
	}
	(*bucket).Failed, (*bucket).MaxBytes = s.failed, state.bounds.bytes
	return *bucket, nil
}

// close closes the folders of buckets; the databases are the state's.
func (s *stores) close() error {
	var errs []error
	for _, root := range s.roots {
		errs = append(errs, root.Close())
	}
	return errors.Join(errs...)
}
