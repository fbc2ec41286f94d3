// Package toolcall knows the tools of a service by their names, and builds the arguments of calls from a person's input.
//
// In go a session, words such as KEY=VALUE, JSON or a file; out come JSON objects, and a *failure.Error for a name that no tool has
// or arguments that cannot be read. All of it is safe for concurrent use.
//
// It never calls a tool, and never judges the arguments: the service does.
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

// Find describes a tool: from the contract, or from the service's own description when it has more tools than this version knows.
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

// Pick returns the tool of a name.
func Pick(tools []client.ToolInfo, name string) (client.ToolInfo, error) {
	i := slices.IndexFunc(tools, func(t client.ToolInfo) bool { return t.Name == name })
	if i >= 0 {
		return tools[i], nil
	}
	f := failure.Refused("no-such-tool", fmt.Sprintf("the service has no tool %q", name), "pages tools lists them")
	// The name may be mistyped, written as MCP clients do, or without the part before its dot.
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

// Names lists the tools that this version knows.
func Names() (names []string) {
	for _, t := range toolapi.NewContract().Tools() {
		names = append(names, t.Name)
	}
	slices.Sort(names)
	return names
}
