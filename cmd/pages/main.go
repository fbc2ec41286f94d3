// Command pages validates, builds, migrates, runs and publishes sites of the Workspace platform. `pages help` lists its
// commands.
//
// Only this package imports all rooms. Each file has one subcommand, or a group of small ones: flags, the call into a room and the output.
// Rules live in the rooms.
//
// A new command is a function here, called by newRoot or the command above it; its page of help in help/; its group in
// cmd/internal/manual/help.go, if no command is above it; its --json document in documents.go, with its line in json.txtar;
// a script in testdata/script; the completion of its arguments in completion.go. The manual and pages schema follow.
package main

import (
	"context"
	"os"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/ending"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
)

func main() {
	ctx, stop := ending.WithSignals(context.Background())
	terminal.ObeyEscapes(os.Stdout, os.Stderr)
	cache, _ := os.UserCacheDir()   // "" for no cache
	config, _ := os.UserConfigDir() // "" for no settings
	home, _ := os.UserHomeDir()     // "" for no home
	dir, _ := os.Getwd()            // with "", every relative path fails and the error names it
	program, _ := os.Executable()   // "" if it has none
	code := run(ctx, os.Args[1:], terminal.Terminal{
		Stdin: os.Stdin, Stdout: terminal.Steady{File: os.Stdout}, Stderr: terminal.Steady{File: os.Stderr},
		Environ: os.Environ(), Dir: dir, Program: program, CacheDir: cache, ConfigDir: config, HomeDir: home, Now: time.Now,
	})
	stop()
	os.Exit(code)
}
