package doctor

import (
	"context"
	"errors"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
)

// servicePatience is how long the service may take to answer.
const servicePatience = 5 * time.Second

// checkService calls the service, as pages whoami does: with the address and key of
// the environment, the site's link or a login.
func (d *examination) checkService(ctx context.Context) []Finding {
	ctx, cancel := context.WithTimeout(ctx, servicePatience)
	defer cancel()
	session, err := remote.Open(ctx, d.options.Remote)
	f, failed := errors.AsType[*failure.Error](err)
	switch {
	case failed && f.Code == "no-address":
		return notLooked("service", "none is chosen: see pages login")
	case failed && f.Code == "no-key":
		return warns("service", f.Fix, "%s", f.Message)
	}
	var who remote.Identity
	if err == nil {
		who, err = session.Who(ctx)
	}
	if f, failed = errors.AsType[*failure.Error](err); failed {
		return breaks("service", f.Fix, "%s", f.Message)
	}
	if err != nil {
		return breaks("service", "check the address and the network", "%s", err)
	}
	workspace := who.Workspace
	if workspace == "" {
		workspace = "no workspace chosen"
	}
	return well("service", "%s takes the key %s (%s)", who.BaseURL, who.Key, workspace)
}
