package publish

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/remote"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// Domains lists the domains of the workspace.
func Domains(ctx context.Context, s *remote.Session) (list toolapi.DomainList, err error) {
	err = s.InWorkspace(ctx, func() error {
		list, err = client.Run(ctx, s.Client, s.Contract.DomainList, toolapi.NoArgs{Scope: s.Scope()})
		return err
	})
	return list, err
}

// FindDomain finds a domain of the workspace by its name or its id.
func FindDomain(ctx context.Context, s *remote.Session, named string) (toolapi.Domain, error) {
	list, err := Domains(ctx, s)
	if err != nil {
		return toolapi.Domain{}, err
	}
	i := slices.IndexFunc(list.Domains, func(d toolapi.Domain) bool {
		return strings.EqualFold(d.Hostname, named) || strings.EqualFold(d.DomainID, named)
	})
	if i < 0 {
		return toolapi.Domain{}, &failure.Error{
			Exit: failure.ExitRefused, Code: "domain-unknown",
			Message: fmt.Sprintf("there is no domain %q in the workspace %q", named, list.Workspace),
			Fix:     "pages domains list shows them",
		}
	}
	return list.Domains[i], nil
}

// RecordText is a record of DNS as it is set.
func RecordText(d toolapi.DNSRecord) string {
	return fmt.Sprintf("%s %s %s", wording.Printable(d.Name), wording.Printable(d.Type), wording.Printable(d.Value))
}
