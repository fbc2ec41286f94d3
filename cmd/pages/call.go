package main

import (
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/publish"
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
			s, err := r.open(cmd.Context())
			if err != nil {
				return err
			}
			return r.proposer(s, f.proposeOnly).Call(cmd.Context(), publish.CallOptions{
				Tool: args[0], Words: args[1:], Body: f.body, IdempotencyKey: f.idempotency,
			})
		},
	}
	r.add(cmd)
	cmd.Flags().Var(&jsonOrBody{c, f}, "json", "print refusals as JSON, too; with a `BODY`, send it as the arguments")
	cmd.Flags().Lookup("json").NoOptDefVal = "true"
	cmd.Flags().StringVar(&f.idempotency, "idempotency-key", "", "`key` to send, so that a call that is made again gets the first answer (default: one of its own)")
	addProposeOnly(cmd, &f.proposeOnly)
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
