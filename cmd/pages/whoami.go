package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/spf13/cobra"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// whoTool answers to every key that is good: it reads, and takes no arguments of its own.
const whoTool = "brand_profile.status"

func (c *cli) newWhoami() *cobra.Command {
	r := c.newRemote()
	cmd := &cobra.Command{
		Use:   "whoami",
		Short: "Say which key goes to which service, and in which workspace calls run",
		Long: "Say which key goes to which service, where the key comes from, and in which workspace\ncalls run. A key that reaches several workspaces with none chosen lists them.\nThe key is shown by how it starts.\n\n" +
			"Exit codes: 0 the key is good, 1 something failed, 2 wrong usage, " + remoteExit,
		Example: "  pages whoami\n  pages whoami --workspace acme --json",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := r.open(cmd.Context(), ""); err != nil {
				return err
			}
			who, err := r.who(cmd.Context())
			if err != nil {
				return err
			}
			r.printWho(who)
			return nil
		},
	}
	r.flags(cmd)
	return cmd
}

// whoDoc is what `pages whoami` prints.
type whoDoc struct {
	OK        bool               `json:"ok"`
	BaseURL   string             `json:"base_url"`
	Key       string             `json:"key"` // how it starts
	KeyFrom   string             `json:"key_from"`
	Workspace string             `json:"workspace"` // "" when none is chosen
	WorkingIn *toolapi.WorkingIn `json:"working_in"`
	// Workspaces are those that the key reaches, when it must choose.
	Workspaces []string `json:"workspaces,omitempty"`
}

// who tries the key.
func (r *remote) who(ctx context.Context) (whoDoc, error) {
	doc := whoDoc{OK: true, BaseURL: r.client.BaseURL(), Key: r.hint, KeyFrom: r.keyFrom}
	arguments, err := json.Marshal(r.scope())
	if err != nil {
		return doc, err
	}
	a, err := r.client.Do(ctx, client.Call{Tool: whoTool, Arguments: arguments})
	if refused, ok := errors.AsType[*client.RefusalError](err); ok {
		switch refused.Refusal.Code {
		case toolapi.CodeWorkspaceAmbiguous:
			doc.Workspaces = refused.Refusal.Workspaces
			return doc, nil
		case toolapi.CodePermissionDenied: // the key is good
			return doc, nil
		}
	}
	if err != nil {
		return doc, remoteError(err)
	}
	var said toolapi.Success
	if err := json.Unmarshal(a.Body, &said); err != nil || toolapi.Lacks[toolapi.Success](a.Body) != "" {
		return doc, remoteError(&client.ContractError{Status: http.StatusOK, Problem: "does not say in which workspace it is", RequestID: a.RequestID})
	}
	doc.Workspace, doc.WorkingIn = said.Workspace, &said.WorkingIn
	return doc, nil
}

func (r *remote) printWho(doc whoDoc) {
	if r.term.JSON {
		r.term.PrintJSON(doc)
		return
	}
	fmt.Fprintf(r.term.Stdout, "service    %s\n", doc.BaseURL)
	fmt.Fprintf(r.term.Stdout, "key        %s (from %s)\n", doc.Key, doc.KeyFrom)
	switch {
	case doc.WorkingIn != nil:
		fmt.Fprintf(r.term.Stdout, "workspace  %s, %s (%s)\n", wording.Printable(doc.Workspace), wording.Printable(doc.WorkingIn.Label), wording.Printable(string(doc.WorkingIn.Source)))
	case len(doc.Workspaces) > 0:
		fmt.Fprintf(r.term.Stdout, "workspace  none chosen; the key reaches %s\n", wording.Printable(strings.Join(doc.Workspaces, ", ")))
	}
}
