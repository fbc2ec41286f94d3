package main

import (
	"strconv"

	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/devsession"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/manifest/editor"
)

// inspectFlag is --inspect, with a port or without. It implements pflag.Value.
type inspectFlag struct{ *devsession.Inspect }

func (f inspectFlag) String() string {
	if f.Inspect == nil || !f.On {
		return ""
	}
	return strconv.Itoa(f.Port)
}

func (f inspectFlag) Set(text string) error {
	const bits = 16
	port, err := strconv.ParseUint(text, 10, bits)
	if err != nil {
		return failure.Usage("%q is not a port: ports go from 0, for any, to 65535", text)
	}
	f.On, f.Port = true, int(port)
	return nil
}

func (f inspectFlag) Type() string { return "port" }

// addInspect adds the flags of the debugger.
func (f *devFlags) addInspect(flags *pflag.FlagSet) {
	flags.Var(inspectFlag{&f.Inspect}, "inspect", "let debuggers (Chrome, VS Code, JetBrains, node inspect) attach to the Worker on this "+
		"`PORT` of 127.0.0.1, or the next free one; it runs in workerd then")
	flags.Lookup("inspect").NoOptDefVal = strconv.Itoa(editor.DebugPort)
	flags.DurationVar(&f.Inspect.Wait, "inspect-timeout", 0, "`time` for which a request waits while a debugger has paused the Worker, "+
		"before it gets 503 (default: 30s)")
}

// checkInspect makes a Worker with a debugger run in workerd.
func (f *devFlags) checkInspect(flags *pflag.FlagSet) error {
	if f.Inspect.Wait < 0 {
		return failure.Usage("--inspect-timeout is %v; it must be a time such as 30s", f.Inspect.Wait)
	}
	if !f.Inspect.On {
		return nil
	}
	if err := f.engine.check(); err != nil {
		return err
	}
	if flags.Changed("engine") && f.engine.name == siteworker.BuiltIn {
		return failure.Usage("--inspect lets debuggers into V8, and the built-in engine has no inspector: leave out --engine built-in")
	}
	f.engine.name = siteworker.Workerd
	return nil
}
