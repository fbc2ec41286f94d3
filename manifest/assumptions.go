package manifest

import "github.com/pages-toolchain/pages/manifest/limits"

// This file has the choices that the platform document leaves open, and the figures of section 2.9 that other packages need.

// Default names of bindings in the Worker's environment. The document gives only those of storage and kv.
const (
	DatabaseName        = "DB"
	ProjectDatabaseName = "PROJECT_DB"
	ImagesName          = "IMAGES"
	AssetsName          = "ASSETS"
	DefaultStorageName  = "BUCKET" // section 2.9
	DefaultKVName       = "KV"     // section 2.9
)

// PinDate is the platform's own compatibility date. A manifest can only move the date forward from it; the
// document says that there is a pin, not which day it is.
const PinDate = "2026-10-01"

// maxEvent is the maximum number of characters of a form's event, "custom." and a name.
const maxEvent = len("custom.") + limits.MaxName

// RuntimeConfigs returns the names of JSON runtime configs at the bundle's root, in order of precedence.
func RuntimeConfigs() []string { return []string{"wrangler.json", "wrangler.jsonc"} }

// Both fields of a form are required, although the document marks neither: a declaration without a name
// matches no lead, and one without an event raises none.
//
// A number counts by its exact decimal value, however it is written and whether or not a double could hold it:
// 1e3, 0.1e1 and 20.0 are integers, as in draft-07, 1e-400 is not an integer, and 1e400 is over a ceiling.
//
// A lone surrogate escape is refused as unreadable: no UTF-8 text can hold it.
//
// The upload refuses a manifest, the Worker's entry and the migrations among public files, so a site whose assets
// folder holds one is refused. With "assets": ".", the site's own files lie in that folder: they, .pages and
// node_modules are never uploaded as public files. Entry and migrations get a warning, since other files of the
// Worker may be served.
//
// ".." is refused everywhere in a path, even if it would stay in the bundle; "./" and a trailing slash
// are dropped.
