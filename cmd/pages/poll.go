package main

import (
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/devserver/filewatch"
)

// pollFlag is --poll.
type pollFlag struct{ poll *filewatch.Poll }

// addPoll adds --poll.
func addPoll(flags *pflag.FlagSet, poll *filewatch.Poll) {
	const usage = "check files for changes besides the system's events: on, off, auto, which does so if the system reports none, " +
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
