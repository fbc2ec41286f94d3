// Package deploy publishes a bundle through the tool API: it plans against what is
// live (Live, Compare), sends what the workspace lacks (Deployer.Send), and takes a
// two-call tool through its proposal and its confirmation (Proposal).
//
// In go a Bundle and a client of the service; out come a Plan, a revision, and what is
// served. Nothing that visitors see changes before a person's confirmation. Every step
// may be repeated: a deploy that was cut off goes on where it stopped when it is
// run again.
//
// Errors are those of package client, and *ChangedError for a file that changed while
// it was sent, *ConflictError for a page that someone else published meanwhile, and
// *UnfinishedError for what may be resumed. A Deployer may be used by one goroutine at
// a time. The package asks nobody and prints nothing.
package deploy

import (
	"encoding/json"
	"fmt"
	"io"
	"time"

	"github.com/pages-toolchain/pages/manifest/sitefile"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// Bundle is what is to be published.
type Bundle struct {
	// Manifest is pages.deploy.json with its defaults applied, as one JSON object.
	Manifest json.RawMessage
	// Files are all others, sorted by Path, each Path once.
	Files []File
	// LeftOut is what lies among the files and is not sent, sorted by Path.
	LeftOut []sitefile.LeftOut
}

// File is one file of a Bundle.
type File struct {
	sitefile.File
	// Open opens the bytes, as often as they are sent.
	Open func() (io.ReadCloser, error)
}

// Deployer publishes to one site. All fields but Version must be set.
type Deployer struct {
	Client   *client.Client
	Contract *toolapi.Contract
	// Workspace and Site say where to; both are named in every call.
	Workspace, Site string
	// Version is told to the service.
	Version string
	// Now is the time.
	Now func() time.Time
}

func (d *Deployer) scope() toolapi.Scope { return toolapi.Scope{Workspace: toolapi.Slug(d.Workspace)} }

// ChangedError is a file that is not any more what was declared.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s changed while it was sent; nothing was published", e.Path)
}

// ConflictError is a page that shows another revision than the deploy began with.
type ConflictError struct {
	// Live is what is live now, "" where the service did not say.
	Live string
}

func (e *ConflictError) Error() string {
	if e.Live == "" {
		return "someone else published this page meanwhile; nothing was published here"
	}
	return fmt.Sprintf("someone else published this page meanwhile (%s is live now); nothing was published here", e.Live)
}

// UnfinishedError is an upload that stopped for want of an answer, and goes on when the
// deploy is run again.
type UnfinishedError struct {
	// Stored and Missing count blobs.
	Stored, Missing int64
	Err             error
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("gave up with %d of %d files stored: %v", e.Stored, e.Stored+e.Missing, e.Err)
}

func (e *UnfinishedError) Unwrap() error { return e.Err }
