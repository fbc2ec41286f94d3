package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// version and commit are set by the linker. The version here is the next release, and the Makefile reads it.
var version, commit = "0.2.0-dev", ""

func (c *cli) newVersion() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			c.printVersion()
			return nil
		},
	}
}

func (c *cli) printVersion() {
	v := versionDoc{version, builtFrom(), runtime.Version(), runtime.GOOS, runtime.GOARCH}
	if c.term.JSON {
		c.term.PrintJSON(v)
		return
	}
	fmt.Fprintf(c.term.Stdout, "pages %s %s/%s\n", v.Version, v.OS, v.Arch)
}

// versionDoc is the output of `pages version --json`.
type versionDoc struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"` // "" if unknown
	Go      string `json:"go"`
	OS      string `json:"os"`
	Arch    string `json:"arch"`
}

// released is the version, if it is a release; "" for a build between releases.
func released() string {
	if commit == "" || strings.Contains(version, "-dev") {
		return ""
	}
	return version
}

// builtFrom is the commit of the binary, as far as it is known.
func builtFrom() string {
	if commit != "" {
		return commit
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return s.Value
		}
	}
	return ""
}
