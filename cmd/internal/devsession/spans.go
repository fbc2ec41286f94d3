package devsession

import (
	"context"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/otlp"
)

// openExporter starts the exporter of --otlp; nil without one. OTEL_EXPORTER_OTLP_ENDPOINT does not start it: many environments set that
// for the programs that a person writes, and requests of a site leave this machine only on request.
func (r *session) openExporter(ctx context.Context, console *console) (*otlp.Exporter, error) {
	if r.options.OTLP == "" {
		return nil, nil //nolint:nilnil // no receiver is asked for, and nothing went wrong
	}
	address, err := otlp.ParseURL(r.options.OTLP)
	if err != nil {
		return nil, failure.Usage("--otlp is %q; %s", r.options.OTLP, err)
	}
	// Headers may hold a key. They are not a flag: flags show in the list of processes.
	text, _ := r.process.Terminal.Lookup("PAGES_OTLP_HEADERS")
	headers, err := otlp.ParseHeaders(text)
	if err != nil {
		return nil, failure.Usage("PAGES_OTLP_HEADERS: %s", err)
	}
	service, _ := r.process.Terminal.Lookup("OTEL_SERVICE_NAME")
	if service == "" {
		service = filepath.Base(r.dir)
	}
	console.line("  spans        %s (service %s)", wording.Printable(address), wording.Printable(service))
	return otlp.Open(ctx, otlp.Options{
		URL: address, Headers: headers, Service: service, Version: strings.TrimPrefix(r.process.Tool, "pages "),
		Now: r.process.Terminal.Now,
		Tell: func(text string) {
			console.line("%s %s", console.term.Paint("33", "warning:"), wording.Printable(text))
		},
	}), nil
}
