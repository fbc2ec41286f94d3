// Package toolcall finds the tools of a service by their names, and builds the arguments of calls from a person's input.
//
// Input: a session, words such as KEY=VALUE, JSON or a file. Output: JSON objects, and a *failure.Error for an unknown name or malformed
// arguments. All of it is safe for concurrent use.
//
// It calls no tool, and leaves the check of the arguments to the service.
package toolcall

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

// Find describes a tool from the contract, or from the service's own description if that has more tools than this version.
func Find(ctx context.Context, s *remote.Session, name string) (client.ToolInfo, error) {
	if t, ok := s.Client.Tool(name); ok {
		return client.ToolInfo{
			Name: t.Name, Title: t.Title, Description: t.Description, TwoCalls: t.Effect == toolapi.Proposes, Replays: t.Replays,
			Arguments: t.ArgumentsSchema(), Result: t.ResultSchema(),
		}, nil
	}
	tools, err := s.Tools(ctx)
	if err != nil {
		return client.ToolInfo{}, err
	}
	return Pick(tools, name)
}

// Pick returns the tool with a name.
func Pick(tools []client.ToolInfo, name string) (client.ToolInfo, error) {
	i := slices.IndexFunc(tools, func(t client.ToolInfo) bool { return t.Name == name })
	if i >= 0 {
		return tools[i], nil
	}
	f := failure.Refused("no-such-tool", fmt.Sprintf("the service has no tool %q", name), "pages tools lists them")
	// The name may be misspelled, in the form of MCP clients, or without the part before its dot.
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
	return client.ToolInfo{}, f
}

// Names lists the tools of this version.
func Names() (names []string) {
	for _, t := range toolapi.NewContract().Tools() {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}
