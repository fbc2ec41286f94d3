// Package manifest is the deploy manifest of a site, the file "pages.deploy.json" at the root of its bundle: its model, its
// schema, and every rule that needs no other file (platform document, section 2.9). Package manifest/validate has the rules
// that look at files.
//
// Input: the bytes of a manifest ([Parse]). Output: a [Manifest] with every default filled in, and diagnostics that point at
// the author's own lines: all of them, sorted by position, each with a stable code and, if known, the change that fixes it.
//
// It also looks up the route of a path and its access ([RouteTable]), the public files of an uploaded site
// ([Manifest.PublicPath]), and the changes of access between two manifests ([AccessChanges]).
//
// Only [Accepted] returns an error: a fault of a manifest is a diagnostic, and no input makes a function panic. All functions
// are safe for concurrent use, and the values they return share nothing. The work for a hostile file is bounded.
//
// The package touches neither files nor the network, runs no code of the site, prints nothing and reads no environment.
//
// A new rule has its code and sentence in manifest/diagnostic/codes.go. Its check is in routes.go or rules.go, called from
// [ParseDocument] or, for a route, from checkRoutes; a check that reads files is in manifest/validate. It has a case in
// testdata/cases.txt, beside similar ones, or in codes_test.go where files matter; then run go test ./manifest -update and
// review the diff. Every report format then includes it.
package manifest

import (
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sitepath"
)

// FileName is the name of the manifest at the bundle root.
const FileName = sitepath.ManifestFile

// Manifest holds the declarations of a site. The zero value is a static site with no files. Paths are relative to the
// bundle root, slash separated and clean: [Parse] turns "./public/" into "public".
type Manifest struct {
	Entry  string `json:"entry,omitempty"`  // the Worker module that serves Routes; empty for a static site
	Assets string `json:"assets,omitempty"` // the directory of static files; empty when there is none
	// Routes lists the paths that the Worker serves or a members gate guards. Other paths are static files.
	Routes   []Route  `json:"routes,omitempty"`
	Bindings Bindings `json:"bindings,omitzero"`
	Limits   Limits   `json:"limits,omitzero"`
	Runtime  Runtime  `json:"runtime,omitzero"`
	Forms    []Form   `json:"forms,omitempty"` // the forms whose leads raise an event of their own
}

// Form returns the declared form of that name. When a name is declared twice, the first one counts.
func (m *Manifest) Form(name string) (Form, bool) {
	for _, f := range m.Forms {
		if f.Name == name {
			return f, true
		}
	}
	return Form{}, false
}

// Access is the audience of a route.
type Access string

// The two kinds of access. [Parse] fills in Public if the manifest sets none.
const (
	Public  Access = "public"
	Members Access = "members"
)

// Route is one entry of the route table.
type Route struct {
	// Pattern is a site-root-relative path, matched literally, or one that ends in "/*" and then covers
	// everything below it and the path before the "/*" itself.
	Pattern string `json:"pattern"`
	Access  Access `json:"access,omitempty"`
}

// Bindings are the resources the Worker finds in its environment.
type Bindings struct {
	Database *Database `json:"database,omitempty"` // the site's own database, nil when the site has none
	// ProjectDatabase is the access to the database shared by the project's sites.
	ProjectDatabase ProjectAccess `json:"projectDatabase,omitempty"`
	// Secrets are the names of the secrets the Worker reads. Values are never in the file.
	Secrets []string `json:"secrets,omitempty"`
	// Submissions is the table that also stores form posts; empty for none.
	Submissions string   `json:"submissions,omitempty"`
	Storage     *Storage `json:"storage,omitempty"` // the site's bucket, nil when the site has none
	Images      bool     `json:"images,omitempty"`  // attaches the image-transform binding
	KV          *KV      `json:"kv,omitempty"`      // the site's key-value namespace, nil when the site has none
}

// Database declares the site's own database.
type Database struct {
	// Migrations is the directory of .sql files applied in filename order; empty for none.
	Migrations string   `json:"migrations,omitempty"`
	Tables     []string `json:"tables,omitempty"` // the names of the site's tables
}

// ProjectAccess is the access to the project database.
type ProjectAccess string

// The levels of access to the project database. [Parse] fills in ProjectNone if the manifest sets none.
const (
	ProjectNone      ProjectAccess = "none"
	ProjectRead      ProjectAccess = "read"
	ProjectReadWrite ProjectAccess = "readwrite"
)

// Storage declares a bucket.
type Storage struct {
	Name string `json:"name"` // the bucket's name in the Worker's environment, by default "BUCKET"
}

// KV declares a key-value namespace.
type KV struct {
	Name string `json:"name"` // the namespace's name in the Worker's environment, by default "KV"
}

// Limits bound one request of the Worker. [Parse] fills in the defaults.
type Limits = limits.Requests

// Runtime chooses the behaviour of the Worker runtime.
type Runtime struct {
	// CompatibilityFlags holds FlagStrictlyPublic, FlagNodeJS, both or none.
	CompatibilityFlags []string `json:"compatibilityFlags,omitempty"`
	// CompatibilityDate is a day as YYYY-MM-DD, or empty. It counts only when newer than [PinDate].
	CompatibilityDate string `json:"compatibilityDate,omitempty"`
}

// The compatibility flags the platform accepts.
const (
	FlagStrictlyPublic = "global_fetch_strictly_public"
	FlagNodeJS         = "nodejs_compat"
)

// Form declares a form and the event its leads raise.
type Form struct {
	// Name equals the "form" field of the lead: 1 to 64 lowercase letters, digits, "-" and "_".
	Name  string `json:"name"`
	Event string `json:"event"` // "custom." and a name: at most 71 characters in all
}
