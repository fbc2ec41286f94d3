package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"golang.org/x/term"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// This file asks the person at the terminal. Where there is none, nobody is asked and
// nothing is chosen: the command says what it needed, and ends with exitPerson.

// nobody is why no person can be asked; "" when one can.
func (c *cli) nobody() string {
	ci, _ := c.lookup("CI")
	switch {
	case c.json:
		return "with --json nobody is asked"
	case ci != "":
		return "CI is set, and nobody is asked"
	case !isTerminalReader(c.stdin):
		return "there is no terminal to ask on"
	case !isTerminal(c.stderr):
		return unseen
	}
	return ""
}

// unseen is why a person who is there is not asked.
const unseen = "stderr is no terminal, and the question would not be seen"

// interactive reports whether a person can be asked.
func (c *cli) interactive() bool { return c.nobody() == "" }

// confirm asks for a yes. Anything else is a failure.
func (c *cli) confirm(ctx context.Context, question string) error {
	if why := c.nobody(); why != "" {
		return &failure.Error{Exit: failure.ExitPerson, Code: "confirmation-needed", Message: question + " " + strings.ToUpper(why[:1]) + why[1:], Fix: "say --yes"}
	}
	yes, err := c.agree(ctx, question)
	if err != nil && !errors.Is(err, errNoAnswer) {
		return err
	}
	if !yes {
		return &failure.Error{Exit: failure.ExitRefused, Code: "not-confirmed", Message: "nothing was changed"}
	}
	return nil
}

// errNoAnswer is a person who went without an answer.
var errNoAnswer = &failure.Error{Exit: failure.ExitPerson, Code: "not-answered", Message: "there was no answer; nothing was done"}

// line reads one line of stdin. A signal ends the wait.
func (c *cli) line(ctx context.Context) (string, error) {
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := bufio.NewReader(io.LimitReader(c.stdin, maxKey)).ReadString('\n')
		done <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		return "", context.Cause(ctx)
	case a := <-done:
		if a.err != nil && a.text == "" {
			return "", errNoAnswer
		}
		return strings.TrimSpace(a.text), nil
	}
}

// noUsual is for a question that an empty answer does not answer.
const noUsual = -1

// choose lets a person choose one of several, by its number, its first word, or the
// beginning of just one. An empty answer is the usual one, if there is one.
func (c *cli) choose(ctx context.Context, question string, of []string, usual int) (int, error) {
	fmt.Fprintln(c.stderr, question)
	for i, name := range of {
		fmt.Fprintf(c.stderr, "  %d  %s\n", i+1, wording.Printable(name))
	}
	prompt := fmt.Sprintf("1-%d: ", len(of))
	if usual != noUsual {
		prompt = fmt.Sprintf("1-%d [%d]: ", len(of), usual+1)
	}
	for {
		fmt.Fprint(c.stderr, prompt)
		text, err := c.line(ctx)
		switch {
		case err != nil:
			return 0, err
		case text == "" && usual == noUsual:
			return 0, errNoAnswer
		case text == "":
			return usual, nil
		}
		if i, ok := chosen(text, of); ok {
			return i, nil
		}
		fmt.Fprintf(c.stderr, "%q is none of them\n", text)
	}
}

// chosen is what an answer chooses.
func chosen(answer string, of []string) (int, bool) {
	if n, err := strconv.Atoi(answer); err == nil {
		return n - 1, n >= 1 && n <= len(of)
	}
	var begun []int
	for i, name := range of {
		word, _, _ := strings.Cut(name, " ")
		if strings.EqualFold(word, answer) {
			return i, true
		}
		if len(word) > len(answer) && strings.EqualFold(word[:len(answer)], answer) {
			begun = append(begun, i)
		}
	}
	if len(begun) != 1 {
		return 0, false
	}
	return begun[0], true
}

// agree asks a question that only "y" or "yes" agrees to.
func (c *cli) agree(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(c.stderr, "%s [y/N] ", question)
	text, err := c.line(ctx)
	return err == nil && (strings.EqualFold(text, "y") || strings.EqualFold(text, "yes")), err
}

// secretLine reads a line that is not shown while it is typed; from a file or pipe, as
// it comes. instead is the other way of giving it.
func (c *cli) secretLine(ctx context.Context, question, instead string) (string, error) {
	f, ok := c.stdin.(*os.File)
	if !ok || !isTerminal(f) {
		return c.line(ctx)
	}
	if why := c.nobody(); why != "" {
		return "", &failure.Error{Exit: failure.ExitPerson, Code: "choice-needed", Message: why, Fix: instead}
	}
	was, err := term.MakeRaw(int(f.Fd())) // silent before it asks, for those who paste at once
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(f.Fd()), was) }()
	fmt.Fprint(c.stderr, question)
	type answer struct {
		text []byte
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := term.ReadPassword(int(f.Fd()))
		done <- answer{text, err}
	}()
	select {
	case <-ctx.Done():
		fmt.Fprint(c.stderr, "\r\n")
		return "", context.Cause(ctx)
	case a := <-done:
		fmt.Fprint(c.stderr, "\r\n")
		if a.err != nil {
			return "", errNoAnswer
		}
		return string(a.text), nil
	}
}
