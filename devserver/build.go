package devserver

import (
	"context"
	"path/filepath"
	"strings"
	"time"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest/sitefile"
)

// Builder turns the site's folder into what is served. Build is called once at
// the start and then after each settled batch of changes, never concurrently.
type Builder interface {
	// Build reads the folder. changed holds the absolute paths that came, went or
	// changed since the last call, sorted; nil means that anything may have. When
	// ctx ends, the outcome is thrown away.
	Build(ctx context.Context, changed []string) Outcome
}

// Outcome is what a build came to.
type Outcome struct {
	// Revision is what is to be served from now on; it counts only when OK.
	Revision site.Revision
	OK       bool
	// Problems are the errors when not OK, and warnings otherwise.
	Problems []Problem
	// Watch lists the absolute paths of the files and folders the build depends
	// on, those that are missing included. Folders count with all that is in them.
	// Nil keeps the list of the build before.
	Watch []string
	// Info is what the dashboard shows of the site. Its zero value is filled in
	// from the revision's manifest by [Describe].
	Info Info
}

// Build tells what one build came to; see [Options.OnBuild]. By the time it is
// told, the outcome is being served and the files are being watched.
type Build struct {
	Number   int64 // from 1
	OK       bool
	Reload   Reload // what the open pages were told
	Changed  []string
	Problems []Problem
	Took     time.Duration
	Stale    bool // it failed, and an earlier one that was good is still served
}

// Reload says what the open pages do about a build.
type Reload string

// The ways to reload.
const (
	ReloadNone Reload = "none" // nothing: the build failed, or live reload is off
	ReloadCSS  Reload = "css"  // swap style sheets in place
	ReloadFull Reload = "full"
)

// changedStyles returns the site paths of the style sheets that changed, when
// nothing else did.
func changedStyles(changed []string, assets []sitefile.Asset) (paths []string, only bool) {
	if len(changed) == 0 {
		return nil, false
	}
	served := map[string]string{}
	for _, file := range changed {
		if !strings.EqualFold(filepath.Ext(file), ".css") {
			return nil, false
		}
		served[file] = ""
	}
	for _, asset := range assets {
		if _, ok := served[asset.File]; ok {
			served[asset.File] = asset.Path
		}
	}
	for _, file := range changed {
		if served[file] == "" {
			return nil, false // gone, or a part of something else
		}
		paths = append(paths, served[file])
	}
	return paths, true
}
