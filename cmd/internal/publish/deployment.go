package publish

import (
	"context"
	"time"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// DeployOptions are those of `pages deploy`.
type DeployOptions struct {
	Remote     remote.Options // Dir is the site that is deployed
	NearestDir string
	Manifest   *manifest.Manifest
	NewBuilder func(context.Context) (*bundler.Builder, error)

	Create      string // make a site of this name, and deploy there
	Plan        bool   // send nothing
	PlanOut     string // a file for the plan
	ExitCode    bool   // end with failure.ExitChanges when the plan has changes
	Preview     bool   // publish nothing: give a link
	Expires     time.Duration
	At          string // publish at this time
	ProposeOnly bool
	ProposalOut string // a file for the proposal
	AllowPublic bool   // let paths become public that were for members
	Force       bool   // publish over what someone else published meanwhile
	SourceMaps  bool
}

// deployment is one run of `pages deploy`, and what came of it.
type deployment struct {
	options  DeployOptions
	session  *remote.Session
	proposer *Proposer

	to       *deploy.Deployer
	page     toolapi.Page
	planned  *deploy.Plan
	revision string
	outcome  string // one sentence
	proposal *deploy.Proposal
}

// standing says what stands of a deploy that a signal ended before its confirmation.
func (d *deployment) standing() string {
	switch {
	case d.options.Plan:
		return "stopped; nothing was sent"
	case d.revision == "":
		return "stopped; nothing was published. Run it again: it goes on where it stopped"
	case d.options.Preview:
		return "stopped; nothing was published, and revision " + d.revision + " is ready. Run it again to get a link"
	}
	return "stopped; nothing was published, and revision " + d.revision + " is ready. Run it again: it proposes that"
}
