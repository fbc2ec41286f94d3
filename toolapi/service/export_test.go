package service

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// TakeArrived takes the leads that have arrived.
func (s *Service) TakeArrived(ctx context.Context) error { return s.takeArrived(ctx) }

// AskDNS replaces the look-up of TXT records.
func (s *Service) AskDNS(lookUp func(context.Context, string) ([]string, error)) { s.lookUp = lookUp }

// Pace changes how long a body's bytes are waited for, until reset.
func (s *Service) Pace(wait time.Duration) (reset func()) {
	before := s.pace.Swap(int64(wait))
	return func() { s.pace.Store(before) }
}

// LimitPages limits the database to its current size, or removes the limit with 0. At the limit SQLite fails as on a full disk.
func (s *Service) LimitPages(ctx context.Context, pages int64) error {
	return s.db.write(ctx, func(t tx) error {
		if pages == 0 {
			pages = 1 << 30
		}
		var now int64
		_, err := t.queryOne(fmt.Sprintf("PRAGMA max_page_count = %d", pages), nil, &now)
		return err
	})
}

// WithFixtures adds tools and options to MCP, for suites that bring their own.
func (s *Service) WithFixtures(options func(*mcp.ServerOptions), add func(*mcp.Server)) {
	o := s.mcpOptions()
	options(o)
	server := s.mcpServer(o)
	add(server)
	h := serveMCP(server)
	s.mcp = func() http.Handler { return h }
}

// SetLeadMail changes who sends mails on leads.
func (s *Service) SetLeadMail(send func(context.Context, LeadMail) error) { s.sendLeadMail = send }

// SendLeadMails sends the mails that are due.
func (s *Service) SendLeadMails(ctx context.Context) error { return s.sendDueLeadMails(ctx) }
