package main

import (
	"cmp"
	"context"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
)

// defaultPort is where `pages dev` listens when the port is free.
const defaultPort = 8788

// devFlags are the flags of `pages dev`, and of `pages test`.
type devFlags struct{ *devsession.Options }

func (c *cli) newDev() *cobra.Command {
	f := &devFlags{&devsession.Options{}}
	cmd := &cobra.Command{
		Use:   "dev [DIR]",
		Short: "Run the site on this machine, with the platform's rules enforced",
		Long: "Run the site on this machine, with the platform's rules enforced.\n\n" +
			"Migrations are applied, members routes are guarded, limits end requests, forms\nturn into leads and events. Every save is live at once. The dashboard is at\n" +
			"/__pages/. The first line on stdout is \"ready URL\". On a terminal, ? lists keys\nthat open the site, rebuild it, change who visitors are, and more.\n\n" +
			"Exit codes: 0 stopped by Ctrl-C, 1 the manifest was refused, 2 wrong usage,\n9 the port, the state folder or its lock cannot be had.",
		Annotations: map[string]string{printsLines: "yes"},
		Example:     "  pages dev\n  pages dev --port 0 --json\n  pages dev sites/club --limits warn --allow-fetch localhost:9000",
		Args:        cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := f.check(); err != nil {
				return err
			}
			err := c.dev(cmd.Context(), args, *f.Options)
			if peak := peakMemory(); c.term.Verbose && peak > 0 {
				c.term.Progress("memory: %s at most", wording.Size(peak))
			}
			return untilInterrupt(cmd.Context(), err)
		},
	}
	flags := cmd.Flags()
	flags.IntVar(&f.Port, "port", defaultPort, "`port` to listen on; the next free one if it is taken; 0 for any")
	flags.BoolVar(&f.StrictPort, "strict-port", false, "fail when the port is taken")
	flags.StringVar(&f.LiveReload, "live-reload", "hot", "`mode` in which open pages follow a save: hot, full, off")
	flags.StringVar(&f.ProjectState, "project-state", "", "`folder` of the project database, to share it between sites (default: the state folder)")
	f.addRules(flags)
	return cmd
}

// addRules adds the flags that say how the site behaves.
func (f *devFlags) addRules(flags *pflag.FlagSet) {
	flags.StringVar(&f.Limits, "limits", "enforce", "`mode` in which limits.cpuMs and limits.subRequests count: enforce, warn, off")
	flags.Float64Var(&f.CPUScale, "cpu-scale", 1, "multiply limits.cpuMs by this `factor`: pure JavaScript is slower here than on the platform")
	flags.StringVar(&f.Isolation, "isolation", "shared", "`mode` of isolates: shared, which live on, as on the platform, or request, a pristine one for each request")
	flags.StringVar(&f.EdgeRules, "edge-rules", project.EdgeRulesOn, edgeRulesUsage)
	flags.StringVar(&f.As, "as", "", "`persona` that visitors are from the start, or an email; see .pages/members.json")
	flags.StringArrayVar(&f.AllowFetch, "allow-fetch", nil, "`HOST[:PORT]` of this machine or network that the Worker may fetch; repeatable")
	allowImportFlag(flags, &f.AllowImport)
	flags.StringArrayVar(&f.AllowHosts, "allow-host", nil, "further `HOST` name to answer to, with the site alone: pages help members; repeatable")
	flags.StringVar(&f.Webhook, "event-webhook", "", "`URL` to post every event to, as Standard Webhooks has it; the secret is PAGES_EVENT_WEBHOOK_SECRET, or one that is made and shown")
}

func (f *devFlags) check() error {
	for _, choice := range []struct {
		flag, value string
		of          []string
	}{
		{"limits", f.Limits, []string{"enforce", "warn", "off"}},
		{"isolation", f.Isolation, []string{"shared", "request"}},
		{"live-reload", f.LiveReload, []string{"hot", "full", "off"}},
		{"edge-rules", f.EdgeRules, []string{project.EdgeRulesOn, project.EdgeRulesOff}},
	} {
		if !slices.Contains(choice.of, choice.value) {
			return failure.Usage("--%s is %q; it is one of %s", choice.flag, choice.value, strings.Join(choice.of, ", "))
		}
	}
	if f.Port < 0 || f.Port > 65535 {
		return failure.Usage("--port is %d; ports go from 0 to 65535", f.Port)
	}
	if f.Webhook != "" {
		if err := site.ParseWebhookURL(f.Webhook); err != nil {
			return failure.Usage("--event-webhook is %q: %s", f.Webhook, err)
		}
	}
	if err := f.checkHosts(); err != nil {
		return err
	}
	const maxCPUScale = 1_000_000 // times the platform's ceiling, it is still a time
	if f.CPUScale > 0 && f.CPUScale <= maxCPUScale {
		return nil
	}
	return failure.Usage("--cpu-scale is %v; it is more than 0, and at most %d", f.CPUScale, maxCPUScale)
}

// checkHosts refuses what can be the host of no request, and so would allow nothing.
func (f *devFlags) checkHosts() error {
	for _, given := range f.AllowFetch {
		if _, port, ok := cutPort(given); !ok || port == "0" {
			return failure.Usage("--allow-fetch is %q; it is a host, or a host and its port, such as localhost:9000", given)
		}
	}
	for i, given := range f.AllowHosts {
		host, port, ok := cutPort(given)
		if !ok || port != "" {
			return failure.Usage("--allow-host is %q; it is the name of a host alone, such as site.test", given)
		}
		f.AllowHosts[i] = strings.ToLower(host)
	}
	return nil
}

// cutPort parts a host from its port, if it has one. An address of IPv6 has no brackets then.
func cutPort(given string) (host, port string, ok bool) {
	if net.ParseIP(given) != nil {
		return given, "", true
	}
	u, err := url.Parse("http://" + given)
	if err != nil || u.Host != given || strings.HasSuffix(given, ":") || u.Hostname() == "" || strings.Contains(u.Hostname(), ",") {
		return "", "", false
	}
	_, err = strconv.ParseUint(cmp.Or(u.Port(), "1"), 10, 16)
	return u.Hostname(), u.Port(), err == nil
}

// dev runs the dev server until ctx ends.
func (c *cli) dev(ctx context.Context, args []string, o devsession.Options) error {
	dir, err := c.sites().Find(args)
	if err != nil {
		return err
	}
	m, found := c.sites().Load(dir) // the first build prints warnings
	if m == nil {
		return &failure.RefusedError{Report: found.Report, Source: found.Source}
	}
	return devsession.Serve(ctx, c.process(), dir, m, o)
}

// process is this process, for a session.
func (c *cli) process() devsession.Process {
	return devsession.Process{
		Terminal: &c.term, Sites: c.sites(), States: c.states(), Memory: c.memory, Images: c.images,
		CacheDir: c.compileCache(), Tool: tool(), Run: run,
	}
}

// compileCache is where machine code is kept between starts.
func (c *cli) compileCache() string {
	if c.term.CacheDir == "" {
		return ""
	}
	return filepath.Join(c.term.CacheDir, "pages", "engine")
}
