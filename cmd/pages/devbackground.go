package main

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/pages-toolchain/pages/cmd/internal/devbackground"
	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/devserver"
)

// detachedFlag marks the process that --background starts. Help does not show it.
const detachedFlag = "detached"

// addBackground adds the flags for a server without a terminal, and for agents.
func (f *devFlags) addBackground(flags *pflag.FlagSet) {
	flags.BoolVar(&f.background, "background", false, "return when the site answers, and leave the server running: pages dev stop ends it")
	flags.BoolVar(&f.untilParent, "until-parent-exits", false, "stop when the process that started pages has ended")
	flags.BoolVar(&f.AllowWrite, "allow-write", false, "let coding agents change data over /__pages/mcp, too")
	flags.BoolVar(&f.detached, detachedFlag, false, "this process runs in the background")
	if err := flags.MarkHidden(detachedFlag); err != nil {
		panic(err) // the flag exists
	}
}

// followParent ends the context with the parent of this process, if the flags ask for it, and sends the output of a process in the
// background to its log. Call done at the end.
func (c *cli) followParent(ctx context.Context, args []string, f *devFlags) (_ context.Context, done func(), err error) {
	if f.untilParent {
		watched, stop := context.WithCancel(ctx)
		go func() {
			devbackground.AwaitParent(watched)
			stop()
		}()
		return watched, stop, nil
	}
	if !f.detached {
		return ctx, func() {}, nil
	}
	s, err := c.devState(args)
	if err != nil {
		return nil, nil, err
	}
	log, err := devbackground.OpenLog(s)
	if err != nil {
		return nil, nil, err
	}
	c.term.Stdout, c.term.Stderr, f.Background = log, log, true
	return ctx, func() {}, nil // the process ends with its log
}

// devState returns the state of the site that args may name.
func (c *cli) devState(args []string) (*localstate.State, error) {
	dir, err := c.sites().Find(args)
	if err != nil {
		return nil, err
	}
	return c.states().State(dir)
}

// startInBackground starts the same command without a terminal, and reports its first build.
func (c *cli) startInBackground(ctx context.Context, args []string) error {
	s, err := c.devState(args)
	if err != nil {
		return err
	}
	if c.term.Program == "" {
		const message = "the system does not name the file of this program"
		return failure.Resource("dev-not-started", message, "run pages dev without --background", nil)
	}
	cmd := exec.Command(c.term.Program, detachedArgs(c.args)...) //nolint:noctx // it outlives this command
	cmd.Args[0] = "pages"
	cmd.Dir = c.term.Dir
	cmd.Env = slices.DeleteFunc(slices.Clone(c.term.Environ), func(variable string) bool {
		return strings.HasPrefix(variable, variableOf("json")+"=") // the log is for people
	})
	status, err := devbackground.Start(ctx, s, cmd)
	if err != nil {
		return err
	}
	if status.OK && !c.term.JSON {
		fmt.Fprintf(c.term.Stdout, "ready %s\n", status.URL)
	}
	return c.printStatus(status)
}

// detachedArgs returns the command line of the process in the background.
func detachedArgs(args []string) []string {
	own, command := args, []string{}
	if i := slices.Index(args, "--"); i >= 0 {
		own, command = args[:i], args[i:]
	}
	own = slices.DeleteFunc(slices.Clone(own), func(arg string) bool {
		name, _, _ := strings.Cut(arg, "=")
		return name == "--background" || name == "--json"
	})
	return slices.Concat(own, []string{"--" + detachedFlag}, command)
}

// printStatus prints the server of a site. A failed build is an error.
func (c *cli) printStatus(status devbackground.Status) error {
	built := func() error {
		if !status.OK {
			return fmt.Errorf("the build failed: %w", failure.ErrShown)
		}
		return nil
	}
	if c.term.JSON {
		c.term.PrintJSON(status)
		return built()
	}
	place := "in a terminal"
	if status.Background {
		place = "in the background: `pages dev stop` ends it, `pages dev logs` shows its output"
	}
	c.term.Progress("process %d runs %s", status.PID, place)
	if !status.OK {
		fmt.Fprint(c.term.Stderr, devserver.ProblemsText(status.Problems))
		c.term.Progress("build %d failed; the server builds again when you save", status.Build)
	}
	return built()
}

func (c *cli) newDevStatus() *cobra.Command {
	return &cobra.Command{
		Use:   "status [DIR]",
		Short: "Show whether the site's dev server runs, and its last build",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := c.devState(args)
			if err != nil {
				return err
			}
			status, err := devbackground.Find(cmd.Context(), s)
			switch {
			case err != nil:
				return err
			case status.Running:
				if !c.term.JSON {
					fmt.Fprintf(c.term.Stdout, "running %s\n", status.URL)
				}
				err = c.printStatus(status)
				if errors.Is(err, failure.ErrShown) {
					return nil // the question was answered
				}
				return err
			}
			return c.report(status, "no pages dev runs: `pages dev --background` starts one")
		},
	}
}

// stoppedDoc is the output of `pages dev stop --json`.
type stoppedDoc struct {
	OK      bool `json:"ok"`
	Stopped bool `json:"stopped"` // false if none ran
	PID     int  `json:"pid"`     // 0 if none ran
}

func (c *cli) newDevStop() *cobra.Command {
	return &cobra.Command{
		Use:   "stop [DIR]",
		Short: "End the dev server that runs in the background",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			s, err := c.devState(args)
			if err != nil {
				return err
			}
			stopped, err := devbackground.Stop(cmd.Context(), s)
			if err != nil {
				return err
			}
			doc := stoppedDoc{OK: true, Stopped: stopped.PID != 0, PID: stopped.PID}
			if !doc.Stopped {
				return c.report(doc, "no pages dev runs")
			}
			return c.report(doc, "stopped process %d", stopped.PID)
		},
	}
}

// devLogDoc is the output of `pages dev logs --json`.
type devLogDoc struct {
	OK    bool     `json:"ok"`
	Lines []string `json:"lines"` // the oldest first
}

func (c *cli) newDevLogs() *cobra.Command {
	var lines int
	cmd := &cobra.Command{
		Use:   "logs [DIR]",
		Short: "Show the output of the dev server in the background",
		Args:  cobra.MaximumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			if lines < 1 {
				return failure.Usage("--lines is %d; it must be 1 or more", lines)
			}
			s, err := c.devState(args)
			if err != nil {
				return err
			}
			last, err := devbackground.Lines(s, lines)
			if err != nil {
				return err
			}
			if len(last) == 0 {
				c.term.Progress("no pages dev has run in the background: `pages dev --background` starts one")
			}
			return printList(c, nil, devLogDoc{true, last}, last, func(line string) string { return line })
		},
	}
	const usual = 200
	cmd.Flags().IntVar(&lines, "lines", usual, "the last `n` lines")
	return cmd
}
