// Package deploy publishes a bundle through the tool API: it plans against the live revision (Live, Compare), sends the files that the
// workspace lacks (Deployer.Send), and takes a two-call tool through its proposal and its confirmation (Proposal).
//
// Input: a Bundle and a client of the service. Output: a Plan, a revision, and the served address. Visitors see no change before a
// person's confirmation. Every step can be repeated: an interrupted deploy resumes on the next run.
//
// Errors are those of package client, *ChangedError for a file that changed during the upload,
// *ConflictError for a page that another person published in between, and *UnfinishedError for a
// deploy that can be resumed. A Deployer may be used by one goroutine at a time. The package asks
// no questions and prints nothing.
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

// Bundle is a site to publish.
type Bundle struct {
	Manifest json.RawMessage    // pages.deploy.json with defaults applied, as one JSON object
	Files    []File             // all others, sorted by Path, each Path once
	LeftOut  []sitefile.LeftOut // files among them that are not sent, sorted by Path
}

// File is one file of a Bundle.
type File struct {
	sitefile.File
	Open func() (io.ReadCloser, error) // opens the bytes anew for each try
}

// Deployer publishes to one site. All fields but Version must be set.
type Deployer struct {
	Client   *client.Client
	Contract *toolapi.Contract
	// Workspace and Site are named in every call.
	Workspace, Site string
	Version         string // of the uploading program
	Now             func() time.Time
}

func (d *Deployer) scope() toolapi.Scope { return toolapi.Scope{Workspace: toolapi.Slug(d.Workspace)} }

// ChangedError is the error of a file that has changed since it was declared.
type ChangedError struct{ Path string }

func (e *ChangedError) Error() string {
	return fmt.Sprintf("%s changed while it was sent; nothing was published", e.Path)
}

// ConflictError means that the page serves another revision than at the start of the deploy.
type ConflictError struct {
	Live string // the revision that is live now; "" when the service did not name it
}

func (e *ConflictError) Error() string {
	if e.Live == "" {
		return "someone else published this site meanwhile; nothing was published here"
	}
	return fmt.Sprintf("someone else published this site meanwhile (%s is live now); nothing was published here", e.Live)
}

// UnfinishedError is an upload that stopped without a response, and resumes when the
// deploy is run again.
type UnfinishedError struct {
	Stored, Missing int64 // blobs
	Err             error
}

func (e *UnfinishedError) Error() string {
	return fmt.Sprintf("gave up with %d of %d files stored: %v", e.Stored, e.Stored+e.Missing, e.Err)
}

func (e *UnfinishedError) Unwrap() error { return e.Err }
