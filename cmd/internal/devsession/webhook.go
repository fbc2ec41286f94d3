package devsession

import (
	"context"
	"database/sql"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// secretVariable holds the webhook's secret. It is no flag: those show in the
// list of processes.
const secretVariable = "PAGES_EVENT_WEBHOOK_SECRET"

// webhook is where --event-webhook says, nil for nowhere.
func (r *session) webhook(ctx context.Context, platform *sql.DB, console *console) (*site.Webhook, error) {
	if r.options.Webhook == "" {
		return nil, nil //nolint:nilnil // no webhook is asked for, and nothing went wrong
	}
	hook := &site.Webhook{URL: r.options.Webhook}
	if text, ok := r.process.Terminal.Lookup(secretVariable); ok && text != "" {
		secret, err := site.ParseSecret(text)
		if err != nil {
			return nil, failure.Usage("%s: %s", secretVariable, err)
		}
		hook.Secret = secret
		return hook, nil
	}
	store, err := site.OpenStore(ctx, platform, site.StoreOptions{Now: r.process.Terminal.Now})
	if err == nil {
		hook.Secret, err = store.WebhookSecret(ctx)
	}
	if err != nil {
		return nil, r.state.OpenError(statefolder.PlatformFile, err)
	}
	console.line("  webhook      %s (%s)", site.FormatSecret(hook.Secret), secretVariable+" sets another")
	return hook, nil
}
