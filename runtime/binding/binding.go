// Package binding composes the bindings of one Worker: its env.
//
// Each binding has a package below this one with its Go half and its JavaScript half. A [Set] lists the bindings of a
// Worker: Set.Funcs are the host functions of an isolate, and the JavaScript half makes env from the JSON of Set.EnvSpec.
// Shapes, limits and error texts are those of Cloudflare's D1, KV, R2, Images and Assets, so that code written for them
// runs unchanged.
//
// Work that waits for a disk, a database or a handler runs off the isolate's goroutine. Acknowledged writes are durable. Open bodies and
// uploads end with the request that opened them. A name that is used twice is an error of EnvSpec; failures of this machine carry no
// paths. Everything is safe for concurrent use unless its comment says otherwise. The packages open no databases or folders themselves,
// and enforce no access rules: a Worker has access to everything in its Set.
//
// A new option of a binding is in its class in JavaScript, in the host call of its package's hostfuncs.go
// and in the type in manifest/workertypes/base.d.ts; then make artifacts.
package binding

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/pages-toolchain/pages/runtime/binding/assets"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/binding/images"
	"github.com/pages-toolchain/pages/runtime/binding/kv"
	"github.com/pages-toolchain/pages/runtime/binding/r2"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// Set is the bindings of one Worker, by their names in env, which are unique over all fields. A nil Set is empty.
type Set struct {
	D1     map[string]*d1.Database
	KV     map[string]*kv.Namespace
	R2     map[string]*r2.Bucket
	Images map[string]*images.Binding
	// Assets serve GET and HEAD requests with the Worker's URL and its host as the Host header. These requests bypass the members
	// gate, which guards requests from outside.
	Assets  map[string]http.Handler
	Secrets map[string]string
}

// spec is one binding for the JavaScript half.
type spec struct {
	Kind  string `json:"kind"`
	ID    string `json:"id,omitempty"`
	Value string `json:"value,omitempty"`
}

// EnvSpec is the JSON object that the JavaScript half makes env of: by name, the kind of each binding and the id of its Go
// half, or the value of a secret. A name that is used twice is an error.
func (s *Set) EnvSpec() ([]byte, error) {
	if s == nil {
		s = &Set{}
	}
	env := map[string]spec{}
	err := errors.Join(
		specs(env, "database", s.D1),
		specs(env, "kv", s.KV),
		specs(env, "storage", s.R2),
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

// specs adds the bindings of one kind to env.
func specs[T any](env map[string]spec, kind string, bindings map[string]T) error {
	for _, name := range slices.Sorted(maps.Keys(bindings)) {
		if other, taken := env[name]; taken {
			return fmt.Errorf("the name %q is given to a %s and to a %s", name, other.Kind, kind)
		}
		env[name] = spec{Kind: kind, ID: name}
	}
	return nil
}

// Funcs are the host functions of one isolate whose Worker has these bindings. Every isolate needs its own.
func (s *Set) Funcs() map[string]engine.Func {
	if s == nil {
		s = &Set{}
	}
	open := hostcall.NewHandles()
	all := map[string]engine.Func{}
	for _, part := range []map[string]engine.Func{
		d1.Funcs(func(id string) *d1.Database { return s.D1[id] }),
		kv.Funcs(open, func(id string) *kv.Namespace { return s.KV[id] }),
		r2.Funcs(open, func(id string) *r2.Bucket { return s.R2[id] }),
		images.Funcs(func(id string) *images.Binding { return s.Images[id] }),
		assets.Funcs(open, func(id string) http.Handler { return s.Assets[id] }),
		hostcall.Funcs(open),
	} {
		maps.Copy(all, part)
	}
	return all
}

// Names are the names of all host functions of this package, sorted: an image is booted with them.
func Names() []string {
	return slices.Sorted(maps.Keys((&Set{}).Funcs()))
}
