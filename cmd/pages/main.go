// Command pages validates, builds, migrates, runs and publishes sites of the Workspace platform. `pages help` lists its
// commands.
//
// This package is the only one that knows all rooms: each file holds one subcommand, its flags, the call into a room and
// what is printed. Rules live in the rooms.
//
// A new command is a file here, added by newRoot, remoteCommands or the command above it; its group in help.go, if none
// is above it; what --json prints in documents.go, with its line in json.txtar; a script in testdata/script; what is
// completed of its arguments in completion.go. The manual and pages schema follow. A key of pages dev is in devkeys.go,
// with its line in keysHelp.
package main

import (
	"context"
	"os"
	"time"
)

func main() {
	ctx, stop := withSignals(context.Background())
	obeyEscapes(os.Stdout, os.Stderr)
	cache, _ := os.UserCacheDir()   // "" is no cache
	config, _ := os.UserConfigDir() // "" is no settings
	home, _ := os.UserHomeDir()     // "" is no home
	dir, _ := os.Getwd()            // "" makes every relative path fail by name
	code := run(ctx, os.Args[1:], env{
		stdin: os.Stdin, stdout: steady{os.Stdout}, stderr: steady{os.Stderr},
		environ: os.Environ(), dir: dir, cacheDir: cache, configDir: config, homeDir: home, now: time.Now,
	})
	stop()
	os.Exit(code)
}
