package main

import (
	"cmp"
	"context"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/bundler"
	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/project"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/devserver/site"
)

// defaultPort is the port of `pages dev`, if it is free.
const defaultPort = 8788

// devFlags are the flags of `pages dev`, and of `pages test`.
type devFlags struct {
	*devsession.Options

	engine    engineFlag
	edgeRules string
	host      string // --host

	background, untilParent bool
	detached                bool // this is the process that --background has started
}

// isolationRequest is the value of --isolation for an isolate for each request.
const isolationRequest = "request"

func (c *cli) newDev() *cobra.Command {
	f := &devFlags{Options: &devsession.Options{}}
	cmd := &cobra.Command{
		Use:         "dev [DIR] [flags] [-- COMMAND [ARG]...]",
		Short:       "Run the site on this machine, with the platform's rules enforced",
		Annotations: map[string]string{printsLines: "yes"},
		Args: func(cmd *cobra.Command, args []string) error {
			args, f.Frontend.Command = cutCommand(cmd, args)
			return cobra.MaximumNArgs(1)(cmd, args)
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			args, _ = cutCommand(cmd, args)
			if err := f.checkInspect(cmd.Flags()); err != nil {
				return err
			}
			if err := f.check(); err != nil {
				return err
			}
			c.edgeRules = f.edgeRules
			if err := f.checkFrontend(cmd); err != nil {
				return err
			}
			if f.background && !f.detached {
				return c.startInBackground(cmd.Context(), args)
			}
			err := c.serveDev(cmd.Context(), args, f)
			if peak := peakMemory(); c.term.Verbose && peak > 0 {
				c.term.Progress("memory: %s at most", wording.Size(peak))
			}
			return untilInterrupt(cmd.Context(), err)
		},
	}
	cmd.AddCommand(c.newDevStatus(), c.newDevStop(), c.newDevLogs())
	flags := cmd.Flags()
	flags.IntVar(&f.Port, "port", defaultPort, "`port` to listen on; the next free one if it is taken; 0 for any")
	flags.BoolVar(&f.StrictPort, "strict-port", false, "fail when the port is taken")
	flags.StringVar(&f.host, "host", "", "`ADDRESS` of this machine to listen on for others, with the site alone, or 0.0.0.0 for "+
		"each one: pages help network")
	addPoll(flags, &f.Poll)
	flags.StringVar(&f.LiveReload, "live-reload", "hot", "`mode` in which open pages follow a save: hot, full, off")
	const stateUsage = "`folder` of the project database, to share it between sites (default: the state folder)"
	flags.StringVar(&f.ProjectState, "project-state", "", stateUsage)
	flags.StringVar(&f.Frontend.URL, "upstream", "", "`URL` of a framework's dev server that runs on this machine already; it answers "+
		"the paths that no route of the site takes")
	flags.IntVar(&f.Frontend.Port, "upstream-port", 0, "`port` where COMMAND listens (default: found in its output, or PORT)")
	flags.StringVar(&f.OTLP, "otlp", "", "`URL` of a receiver of OpenTelemetry, such as http://127.0.0.1:4318, that gets the spans of "+
		"each request; PAGES_OTLP_HEADERS has its headers")
	f.addInspect(flags)
	f.addRules(flags)
	f.addBackground(flags)
	return cmd
}

// serveDev serves the site until ctx ends.
func (c *cli) serveDev(ctx context.Context, args []string, f *devFlags) error {
	ctx, done, err := c.followParent(ctx, args, f)
	if err != nil {
		return err
	}
	defer done()
	dir, m, err := c.loadDev(ctx, args, f)
	if err == nil {
		err = f.chooseEngine(ctx, c, dir)
	}
	if err == nil {
		err = devsession.Serve(ctx, c.process(), dir, m, *f.Options)
	}
	return err
}

// cutCommand splits the arguments at "--".
func cutCommand(cmd *cobra.Command, args []string) (own, command []string) {
	n := cmd.ArgsLenAtDash()
	if n < 0 {
		return args, nil
	}
	return args[:n], args[n:]
}

// edgeRulesUsage describes --edge-rules.
const edgeRulesUsage = "`mode` for the site's _headers and _redirects, which the platform's document leaves open: " +
	"on, off"

// addRules adds the flags for the behaviour of the site.
func (f *devFlags) addRules(flags *pflag.FlagSet) {
	flags.StringVar(&f.Limits, "limits", "enforce", "`mode` in which limits.cpuMs and limits.subRequests count: enforce, warn, off")
	flags.Float64Var(&f.CPUScale, "cpu-scale", 1,
		"multiply limits.cpuMs by this `factor`: pure JavaScript is slower here than on the platform")
	flags.StringVar(&f.Isolation, "isolation", "shared", "`mode` of isolates: shared by requests, as on the platform, or request, "+
		"a new one for each request")
	f.engine.add(flags)
	flags.StringVar(&f.Mode, "mode", "", "`mode` of packages, as process.env.NODE_ENV, by which packages such as React choose "+
		"their build: production, as on a published page, or development (default: NODE_ENV, or development)")
	flags.StringVar(&f.edgeRules, "edge-rules", project.EdgeRulesOn, edgeRulesUsage)
	flags.StringVar(&f.SpamFilter, "spam-filter", "on", "`mode` of the spam filter: on, off")
	flags.StringVar(&f.ProofOfWork, "proof-of-work", "off",
		"`mode` of proofs of work: on, which refuses forms that scripts send without one, off; see pages help spam")
	flags.StringVar(&f.As, "as", "", "`persona` or email that visitors start signed in as; see .pages/members.json")
	flags.StringArrayVar(&f.AllowFetch, "allow-fetch", nil,
		"`HOST[:PORT]` of this machine or network that the Worker may fetch; repeatable")
	allowImportFlag(flags, &f.AllowImport)
	flags.StringArrayVar(&f.AllowHosts, "allow-host", nil,
		"further `HOST` name to answer to, or .NAME for NAME and all below it, with the site alone: pages help network; repeatable")
	flags.StringVar(&f.Webhook, "event-webhook", "", "`URL` to post every event to, as Standard Webhooks defines; the secret is "+
		"PAGES_EVENT_WEBHOOK_SECRET, or a new one, which is shown")
}

func (f *devFlags) check() error {
	for _, choice := range []struct {
		flag, value string
		of          []string
	}{
		{"limits", f.Limits, []string{"enforce", "warn", "off"}},
		{"isolation", f.Isolation, []string{"shared", isolationRequest}},
		{"live-reload", f.LiveReload, []string{"hot", "full", "off"}},
		{"edge-rules", f.edgeRules, []string{project.EdgeRulesOn, project.EdgeRulesOff}},
		{"spam-filter", f.SpamFilter, []string{"on", "off"}},
		{"proof-of-work", f.ProofOfWork, []string{"on", "off"}},
	} {
		if !slices.Contains(choice.of, choice.value) {
			return failure.Usage("--%s is %q; it must be one of %s", choice.flag, choice.value, strings.Join(choice.of, ", "))
		}
	}
	if err := f.engine.check(); err != nil {
		return err
	}
	if f.engine.name == siteworker.Workerd && f.Isolation == isolationRequest {
		return failure.Usage("workerd has one isolate for all requests: leave out --isolation request, or use the built-in engine")
	}
	if f.Mode != "" && f.Mode != bundler.Production && f.Mode != bundler.Development {
		return failure.Usage("--mode is %q; it must be production or development", f.Mode)
	}
	if f.Port < 0 || f.Port > 65535 {
		return failure.Usage("--port is %d; ports go from 0 to 65535", f.Port)
	}
	if f.Webhook != "" {
		if err := site.ParseWebhookURL(f.Webhook); err != nil {
			return failure.Usage("--event-webhook is %q: %s", f.Webhook, err)
		}
	}
	if f.background && f.untilParent {
		return failure.Usage("--background returns at once, so that no parent remains: leave out --until-parent-exits")
	}
	if err := f.checkHosts(); err != nil {
		return err
	}
	if err := f.readHost(); err != nil {
		return err
	}
	const maxCPUScale = 1_000_000 // times the platform's ceiling, it still fits in a duration
	if f.CPUScale > 0 && f.CPUScale <= maxCPUScale {
		return nil
	}
	return failure.Usage("--cpu-scale is %v; it must be more than 0, and at most %d", f.CPUScale, maxCPUScale)
}

// readHost reads --host. The server listens on loopback in any case.
func (f *devFlags) readHost() error {
	if f.host == "" || f.host == "localhost" {
		return nil
	}
	address, err := netip.ParseAddr(f.host)
	if err != nil || address.Zone() != "" {
		return failure.Usage("--host is %q; it must be an address of this machine, such as 192.168.1.5, or 0.0.0.0 for each one", f.host)
	}
	if !address.IsLoopback() {
		f.Host = address.Unmap()
	}
	return nil
}

// checkHosts refuses hosts that no request can have: allowing them would have no effect.
func (f *devFlags) checkHosts() error {
	for _, given := range f.AllowFetch {
		if _, port, ok := cutPort(given); !ok || port == "0" {
			return failure.Usage("--allow-fetch is %q; it must be a host, or a host and its port, such as localhost:9000", given)
		}
	}
	for i, given := range f.AllowHosts {
		host, port, ok := cutPort(given)
		if !ok || port != "" {
			return failure.Usage("--allow-host is %q; it must be a host name, such as site.test", given)
		}
		if strings.Contains(host, "*") {
			const pattern = "--allow-host is %q; for all names below a domain write it with a dot before it, such as .site.test"
			return failure.Usage(pattern, given)
		}
		if parent, below := strings.CutPrefix(host, "."); below && !strings.Contains(parent, ".") {
			const broad = "--allow-host is %q, below which anyone can register names; pass a domain of your own, such as .site.test"
			return failure.Usage(broad, given)
		}
		f.AllowHosts[i] = strings.ToLower(host)
	}
	return nil
}

// cutPort splits HOST[:PORT]; brackets around an IPv6 address are removed.
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

// process returns the parts of this process that a session uses.
func (c *cli) process() devsession.Process {
	return devsession.Process{
		Terminal: &c.term, Sites: c.sites(), States: c.states(), Memory: c.memory, Images: c.images,
		CacheDir: c.compileCache(), Tool: tool(), Run: run,
	}
}
