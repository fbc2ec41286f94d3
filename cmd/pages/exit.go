package main

import (
	"context"
	"errors"
	"os"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
)

// untilInterrupt takes Ctrl-C for success, as the end of a command that runs until then. Any other signal is an error.
func untilInterrupt(ctx context.Context, err error) error {
	stop, signaled := errors.AsType[failure.SignalError](context.Cause(ctx))
	switch {
	case !signaled, err != nil && !errors.Is(err, context.Canceled) && !errors.Is(err, stop):
		return err
	case stop.Signal == os.Interrupt:
		return nil
	}
	return stop
}

// printsLines is the annotation of commands whose --json prints lines of JSON.
const printsLines = "printsLines"
