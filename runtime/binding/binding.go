// Package binding is what a Worker finds in env: databases, key-value
// namespaces, object storage, image transforms, static assets and secrets.
//
// A Set says which bindings one Worker has. Its host functions are the Go half
// that an isolate is made with; the JavaScript half, under js, is bundled into
// the runtime's prelude and makes env of the JSON that Set.EnvSpec returns. The
// shapes, limits and error texts are those of Cloudflare's D1, KV, R2, Images
// and Assets, so that code written for them runs unchanged.
//
// Work that waits for a disk, a database or a handler is done off the isolate's
// goroutine. What a binding acknowledged is durable. Everything is safe for
// concurrent use unless its comment says otherwise; open bodies and uploads end
// with the request that opened them.
//
// Errors for the Worker keep the words and codes of the service they stand for;
// failures of this machine carry no paths. The package opens no databases and
// no folders of its own accord, and enforces no access rules: what a Worker may
// reach is what its Set holds.
//
// A new option of a binding is in its class under js, in the host call of its *_ops.go
// and in the type in manifest/workertypes/base.d.ts; then make artifacts.
package binding

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// Set is the bindings of one Worker, by the names they have in env. Names are
// unique over all fields.
// A nil Set is an empty one.
type Set struct {
	Databases map[string]*Database
	KV        map[string]*KV
	Storage   map[string]*Storage
	Images    map[string]*Images
	// Assets are asked by GET and HEAD, with the URL the Worker gave and its
	// host as the Host header. The members gate is not in their way: it
	// guards requests from outside, and the Worker is inside.
	Assets  map[string]http.Handler
	Secrets map[string]string
}

// spec is one binding as the JavaScript half reads it.
type spec struct {
	Kind  string `json:"kind"`
	ID    string `json:"id,omitempty"`
	Value string `json:"value,omitempty"`
}

// EnvSpec is the JSON object that the JavaScript half makes env of: by name,
// the kind of each binding and what it needs to find its Go half. It holds the
// values of secrets. A name that is used twice is an error.
func (s *Set) EnvSpec() ([]byte, error) {
	if s == nil {
		s = &Set{}
	}
	env := map[string]spec{}
	err := errors.Join(
		specs(env, "database", s.Databases),
		specs(env, "kv", s.KV),
		specs(env, "storage", s.Storage),
		specs(env, "images", s.Images),
		specs(env, "assets", s.Assets),
		specs(env, "secret", s.Secrets),
	)
	if err != nil {
		return nil, err
	}
	for name, value := range s.Secrets {
		env[name] = spec{Kind: "secret", Value: value}
	}
	return json.Marshal(env)
}

// specs adds one kind of bindings to env.
func specs[T any](env map[string]spec, kind string, bindings map[string]T) error {
	for _, name := range slices.Sorted(maps.Keys(bindings)) {
		if other, taken := env[name]; taken {
			return fmt.Errorf("the name %q is given to a %s and to a %s", name, other.Kind, kind)
		}
		env[name] = spec{Kind: kind, ID: name}
	}
	return nil
}

// Funcs are the host functions of one isolate whose Worker has these bindings.
// Every isolate needs its own.
func (s *Set) Funcs() map[string]engine.Func {
	if s == nil {
		s = &Set{}
	}
	open := newHandles()
	all := map[string]engine.Func{}
	for _, part := range []map[string]engine.Func{
		databaseFuncs(func(id string) *Database { return s.Databases[id] }),
		kvFuncs(open, func(id string) *KV { return s.KV[id] }),
		storageFuncs(open, func(id string) *Storage { return s.Storage[id] }),
		imagesFuncs(func(id string) *Images { return s.Images[id] }),
		assetsFuncs(open, func(id string) http.Handler { return s.Assets[id] }),
		bodyFuncs(open),
	} {
		maps.Copy(all, part)
	}
	return all
}

// Names are the names of all host functions of this package, sorted: those an
// image must be booted with.
func Names() []string {
	return slices.Sorted(maps.Keys((&Set{}).Funcs()))
}
