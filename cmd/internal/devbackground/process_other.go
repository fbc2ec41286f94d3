//go:build !unix && !windows

package devbackground

import (
	"context"
	"os/exec"
)

// detach does nothing: a program without a terminal needs no more here.
func detach(*exec.Cmd) {}

// AwaitParent waits for ctx: processes have no parents here.
func AwaitParent(ctx context.Context) { <-ctx.Done() }
