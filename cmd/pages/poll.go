package main

import (
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/devserver/filewatch"
)

// pollFlag is --poll.
type pollFlag struct{ poll *filewatch.Poll }

// addPoll adds --poll.
func addPoll(flags *pflag.FlagSet, poll *filewatch.Poll) {
	const usage = "look at the files for changes, without waiting for the system's events: on, off, auto, which does so where none come, " +
		"or the pause in `milliseconds` (default: auto)"
	f := flags.VarPF(pollFlag{poll}, "poll", "", usage)
	f.NoOptDefVal, f.DefValue = "on", ""
}

// String implements pflag.Value.
func (f pollFlag) String() string {
	if f.poll == nil {
		return ""
	}
	return f.poll.String()
}

// Set implements pflag.Value.
func (f pollFlag) Set(text string) (err error) {
	*f.poll, err = filewatch.ParsePoll(text)
	return err
}

// Type implements pflag.Value.
func (pollFlag) Type() string { return "ms" }
