package editor

import "github.com/tailscale/hujson"

// DebugPort is the port of `pages dev --inspect` without a number, that of Node.js: front ends try it by themselves.
const DebugPort = 9229

// attachConfiguration is a configuration of VS Code's debugger for JavaScript, in launch.json.
type attachConfiguration struct {
	Name    string `json:"name"`
	Type    string `json:"type"`
	Request string `json:"request"`
	Address string `json:"address"`
	Port    int    `json:"port"`
	// Restart attaches again when `pages dev` starts again.
	Restart bool `json:"restart"`
	// Children: a Worker has no processes of its own.
	AttachExistingChildren   bool     `json:"attachExistingChildren"`
	AutoAttachChildProcesses bool     `json:"autoAttachChildProcesses"`
	SkipFiles                []string `json:"skipFiles"`
}

// launch is a new launch.json.
type launch struct {
	Version        string                `json:"version"`
	Configurations []attachConfiguration `json:"configurations"`
}

// launchList is the list of configurations in VS Code's launch.json.
func launchList() jsonList {
	attach := attachConfiguration{
		Name: "pages dev --inspect", Type: "node", Request: "attach", Address: "127.0.0.1", Port: DebugPort, Restart: true,
		SkipFiles: []string{"<node_internals>/**"},
	}
	return jsonList{
		keys: []string{"configurations"}, unit: "    ", whole: launch{"0.2.0", []attachConfiguration{attach}}, element: attach,
		find: func(element hujson.Value) (bool, error) {
			object, ok := element.Value.(*hujson.Object)
			if !ok {
				return false, nil
			}
			name := lastMember(object, "name")
			if name == nil {
				return false, nil
			}
			literal, ok := name.Value.(hujson.Literal)
			return ok && literal.Kind() == '"' && literal.String() == attach.Name, nil
		},
	}
}
