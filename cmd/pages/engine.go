package main

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/siteworker"
	"github.com/pages-toolchain/pages/manifest/packager"
	"github.com/pages-toolchain/pages/runtime/workerd"
)

// engineAuto is the value of --engine for workerd if it is installed, and else for the built-in engine.
const engineAuto = "auto"

// engineFlag is --engine.
type engineFlag struct{ name string }

// engineNames are the values of --engine.
func engineNames() []string { return []string{siteworker.BuiltIn, siteworker.Workerd, engineAuto} }

func (f *engineFlag) add(flags *pflag.FlagSet) {
	flags.StringVar(&f.name, "engine", siteworker.BuiltIn, "`engine` for Workers: built-in, workerd from the site's node_modules "+
		"or PATH, or auto, which is workerd if it is installed: pages help runtime")
}

func (f *engineFlag) check() error {
	if !slices.Contains(engineNames(), f.name) {
		return failure.Usage("--engine is %q; it must be one of %s", f.name, strings.Join(engineNames(), ", "))
	}
	return nil
}

// places are the places of workerd: the packages that code in dir can import; "" for none. PAGES_WORKERD counts only as a variable of this
// process: no file of the site may name a program to run.
func (c *cli) places(dir string) workerd.Places {
	at := workerd.Places{Site: dir}
	at.Path, _ = c.term.Lookup("PATH")
	if given, _ := c.term.Lookup(workerd.Variable); given != "" {
		at.Given = c.term.Path(given)
	}
	if dir != "" {
		at.Install = packager.Of(dir).AddForDevelopment("workerd")
	}
	return at
}

// choose returns the engine of --engine. With auto it warns of a workerd that cannot run.
func (f *engineFlag) choose(ctx context.Context, c *cli, dir string) (siteworker.Choice, error) {
	if f.name == siteworker.BuiltIn {
		return siteworker.Choice{}, nil
	}
	program, err := workerd.Find(ctx, c.places(dir))
	if err == nil {
		return siteworker.Choice{Program: &program}, nil
	}
	fault, ok := errors.AsType[*workerd.FindError](err)
	if !ok {
		return siteworker.Choice{}, err
	}
	if f.name == engineAuto {
		if !fault.Absent {
			c.term.Warn("the built-in engine runs the Workers, since %s; %s", fault.Message, fault.Fix)
		}
		return siteworker.Choice{}, nil
	}
	code := "workerd-unusable"
	if fault.Absent {
		code = "workerd-absent"
	}
	return siteworker.Choice{}, &failure.Error{
		Exit: failure.ExitResource, Code: code, Message: fault.Message, Fix: cmp.Or(fault.Fix, "use the built-in engine"), Err: err,
	}
}

// chooseEngine sets the engine of a session on the site in dir.
func (f *devFlags) chooseEngine(ctx context.Context, c *cli, dir string) (err error) {
	if f.engine.name == engineAuto && f.Isolation == isolationRequest {
		return nil // which workerd does not have
	}
	f.Engine, err = f.engine.choose(ctx, c, dir)
	return err
}
