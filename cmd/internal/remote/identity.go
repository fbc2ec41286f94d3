package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
)

// whoTool is a tool that every valid key may call: it reads, and needs no arguments.
const whoTool = "brand_profile.status"

// Identity is the output of `pages whoami --json`.
type Identity struct {
	OK        bool               `json:"ok"`
	BaseURL   string             `json:"base_url"`
	Key       string             `json:"key"` // the beginning of the key
	KeyFrom   string             `json:"key_from"`
	Workspace string             `json:"workspace"` // "" if none is chosen
	WorkingIn *toolapi.WorkingIn `json:"working_in"`
	// Workspaces are those of the key, if calls must choose one.
	Workspaces []string `json:"workspaces,omitempty"`
}

// Who tries the key with a call.
func (s *Session) Who(ctx context.Context) (Identity, error) {
	who := Identity{OK: true, BaseURL: s.Client.BaseURL(), Key: client.Hint(s.key.text), KeyFrom: s.key.from}
	arguments, err := json.Marshal(s.Scope())
	if err != nil {
		return who, err
	}
	resp, err := s.Client.Do(ctx, client.Call{Tool: whoTool, Arguments: arguments})
	if refused, ok := errors.AsType[*client.RefusalError](err); ok {
		switch refused.Refusal.Code {
		case toolapi.CodeWorkspaceAmbiguous:
			who.Workspaces = refused.Refusal.Workspaces
			return who, nil
		case toolapi.CodePermissionDenied: // the key is valid
			return who, nil
		}
	}
	if err != nil {
		return who, Error(err)
	}
	var success toolapi.Success
	if err := json.Unmarshal(resp.Body, &success); err != nil || toolapi.Lacks[toolapi.Success](resp.Body) != "" {
		return who, Error(&client.ContractError{
			Status: http.StatusOK, Problem: "does not name its workspace", RequestID: resp.RequestID,
		})
	}
	who.Workspace, who.WorkingIn = success.Workspace, &success.WorkingIn
	return who, nil
}

// Write writes the identity for people.
func (i Identity) Write(w io.Writer) {
	fmt.Fprintf(w, "service    %s\n", i.BaseURL)
	fmt.Fprintf(w, "key        %s (from %s)\n", i.Key, i.KeyFrom)
	switch {
	case i.WorkingIn != nil:
		fmt.Fprintf(w, "workspace  %s, %s (%s)\n",
			wording.Printable(i.Workspace), wording.Printable(i.WorkingIn.Label), wording.Printable(string(i.WorkingIn.Source)))
	case len(i.Workspaces) > 0:
		fmt.Fprintf(w, "workspace  none chosen; the key reaches %s\n", wording.Printable(strings.Join(i.Workspaces, ", ")))
	}
}
