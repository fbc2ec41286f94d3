package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// callFlags are the flags of `pages call`.
type callFlags struct {
	body        string // of --json BODY
	idempotency string
	proposeOnly bool
}

func (c *cli) newCall() *cobra.Command {
	r, f := c.newRemote(), &callFlags{}
	cmd := &cobra.Command{
		Use:   "call TOOL [--json BODY | KEY=VALUE…]",
		Short: "Call a tool of the service",
		Long: "Call a tool of the service, and print its answer as JSON.\n\n" +
			"Arguments are KEY=VALUE, where the tool's description says whether a value is text\nor a number; KEY:=JSON gives any value, and a KEY given twice is a list. Or they\nare one JSON object: --json '{…}', @FILE, or - for stdin.\n\n" +
			"A tool of two calls proposes first. At a terminal you are shown what will happen and\nasked; elsewhere the proposal is kept, and the line that confirms it is printed:\nexit code 4.\n\n" +
			"Exit codes: 0 done, 1 the request was refused, 2 wrong usage, " + remoteExit,
		Example: "  pages call content.status status=draft limit=5\n  pages call content.status --json '{\"format\": \"posts\"}'\n  pages call schedule.read --workspace acme | jq .days\n  pages call page.publish site_id=… --propose-only",
		Args:    cobra.MinimumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := r.open(cmd.Context(), ""); err != nil {
				return err
			}
			return r.call(cmd.Context(), f, args[0], args[1:])
		},
	}
	r.flags(cmd)
	cmd.Flags().Var(&jsonOrBody{c, f}, "json", "print refusals as JSON, too; with a `BODY`, send it as the arguments")
	cmd.Flags().Lookup("json").NoOptDefVal = "true"
	cmd.Flags().StringVar(&f.idempotency, "idempotency-key", "", "`key` to send, so that a call that is made again gets the first answer (default: one of its own)")
	proposeFlag(cmd, &f.proposeOnly)
	return cmd
}

// jsonOrBody is the flag --json here: alone it is the flag of all commands.
type jsonOrBody struct {
	c *cli
	f *callFlags
}

var _ pflag.Value = (*jsonOrBody)(nil)

// String implements pflag.Value.
func (j *jsonOrBody) String() string { return "" }

// Type implements pflag.Value.
func (j *jsonOrBody) Type() string { return "BODY" }

// Set implements pflag.Value.
func (j *jsonOrBody) Set(text string) error {
	switch text {
	case "true", "1":
		j.c.term.JSON = true
	case "false", "0":
		j.c.term.JSON = false
	default:
		j.c.term.JSON, j.f.body = true, text
	}
	return nil
}

func (r *remote) call(ctx context.Context, f *callFlags, tool string, args []string) error {
	info, err := r.tool(ctx, tool)
	if err != nil {
		return err
	}
	arguments, err := r.arguments(ctx, f.body, args, info)
	if err != nil {
		return err
	}
	var a client.Answer
	err = r.inWorkspace(ctx, func() error {
		arguments, err = r.withWorkspace(arguments)
		if err != nil {
			return err
		}
		a, err = r.client.Do(ctx, client.Call{Tool: tool, Arguments: arguments, IdempotencyKey: f.idempotency, Replays: info.Replays})
		return err
	})
	if err != nil {
		return err
	}
	if !info.TwoCalls || hasField(arguments, "confirmation_id") {
		r.printAnswer(a.Body)
		return nil
	}
	p, err := deploy.ProposalOf(r.client, tool, arguments, a, r.term.Now())
	switch {
	case err != nil:
		return remoteError(err)
	case p == nil:
		r.printAnswer(a.Body)
		return nil
	}
	done, err := r.decide(ctx, p, f.proposeOnly)
	if err != nil {
		if f, ok := errors.AsType[*failure.Error](err); ok && f.Code == idOutstanding {
			r.printAnswer(a.Body)
			if r.term.JSON {
				return failure.StatusError(f.Exit) // the answer is the document
			}
		}
		return err
	}
	r.printAnswer(done.Body)
	return nil
}

// tool is what is known of a tool: from the contract, or from the service's own
// description when it has more tools than this version knows.
func (r *remote) tool(ctx context.Context, name string) (client.ToolInfo, error) {
	if t, ok := r.client.Tool(name); ok {
		return client.ToolInfo{Name: t.Name, Title: t.Title, Description: t.Description, TwoCalls: t.Effect == toolapi.Proposes, Replays: t.Replays, Arguments: t.ArgumentsSchema(), Result: t.ResultSchema()}, nil
	}
	tools, err := r.client.Tools(ctx)
	if err != nil {
		return client.ToolInfo{}, remoteError(err)
	}
	i := slices.IndexFunc(tools, func(t client.ToolInfo) bool { return t.Name == name })
	if i < 0 {
		return client.ToolInfo{}, noTool(name, tools)
	}
	return tools[i], nil
}

// noTool is the error of a name that none of the tools has: mistyped, or written as
// MCP clients do, or without what stands before its dot.
func noTool(name string, tools []client.ToolInfo) *failure.Error {
	f := &failure.Error{Exit: failure.ExitRefused, Code: "no-such-tool", Message: fmt.Sprintf("the service has no tool %q", name), Fix: "pages tools lists them"}
	var names, actions []string
	for _, t := range tools {
		names = append(names, t.Name)
		if _, action, _ := strings.Cut(t.Name, "."); action == name {
			actions = append(actions, t.Name)
		}
	}
	if near := wording.Nearest(strings.ReplaceAll(name, "_", "."), names); near != "" && len(actions) == 0 {
		actions = []string{near}
	}
	if len(actions) > 0 {
		f.Fix = fmt.Sprintf("did you mean %s? %s", strings.Join(actions, " or "), f.Fix)
	}
	return f
}

// printAnswer prints an answer, laid out for people who read it.
func (c *cli) printAnswer(body json.RawMessage) {
	var out bytes.Buffer
	if json.Indent(&out, bytes.TrimSpace(body), "", "  ") != nil {
		out.Reset()
		out.Write(body)
	}
	out.WriteByte('\n')
	_, _ = c.term.Stdout.Write(wording.EscapeJSON(out.Bytes())) // fails only when its reader is gone
}
