package host

import (
	"context"

	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// links are the members of a site's workspace, as the front door asks for them.
type links struct{ people service.People }

// Send implements site.Links.
func (l links) Send(ctx context.Context, email string, address func(string) string) error {
	return l.people.SendLink(ctx, email, address)
}

// Redeem implements site.Links.
func (l links) Redeem(ctx context.Context, token string) (site.Member, bool, error) {
	who, ok, err := l.people.Redeem(ctx, token)
	return site.Member(who), ok, err
}
