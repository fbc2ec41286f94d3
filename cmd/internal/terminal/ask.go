package terminal

import (
	"bufio"
	"cmp"
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

// This file asks the person at the terminal. Without a terminal it asks nothing and chooses nothing: the command names the missing answer,
// and ends with failure.ExitPerson.

// Unattended returns the reason why no person can be asked; "" if one can.
func (t *Terminal) Unattended() string {
	ci, _ := t.Lookup("CI")
	switch {
	case t.JSON:
		return "--json asks no questions"
	case ci != "":
		return "CI is set, so there are no questions"
	case !IsTerminalReader(t.Stdin):
		return "there is no terminal to ask on"
	case !IsTerminal(t.Stderr):
		return Unseen
	}
	return ""
}

// Unseen is the reason if only stderr is redirected.
const Unseen = "stderr is not a terminal, and the question would not be seen"

// Interactive reports whether a person can be asked.
func (t *Terminal) Interactive() bool { return t.Unattended() == "" }

// Confirm asks for a yes. Anything else is a failure.
func (t *Terminal) Confirm(ctx context.Context, question string) error {
	if why := t.Unattended(); why != "" {
		return &failure.Error{
			Exit: failure.ExitPerson, Code: "confirmation-needed",
			Message: question + " " + strings.ToUpper(why[:1]) + why[1:], Fix: "pass --yes",
		}
	}
	yes, err := t.Agree(ctx, question)
	if err != nil && !errors.Is(err, errNoAnswer) {
		return err
	}
	if !yes {
		return &failure.Error{Exit: failure.ExitRefused, Code: "not-confirmed", Message: "nothing was changed"}
	}
	return nil
}

// errNoAnswer means that stdin ended without an answer.
var errNoAnswer = &failure.Error{Exit: failure.ExitPerson, Code: "not-answered", Message: "there was no answer; nothing was done"}

// ReadLine reads one line of stdin. A signal ends the wait.
func (t *Terminal) ReadLine(ctx context.Context) (string, error) {
	type answer struct {
		text string
		err  error
	}
	done := make(chan answer, 1)
	go func() {
		text, err := bufio.NewReader(io.LimitReader(t.Stdin, maxAnswer)).ReadString('\n')
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

// maxAnswer is the longest accepted line, in bytes.
const maxAnswer = 4 << 10

// NoDefault marks a question without a default answer.
const NoDefault = -1

// ErrBack means that the person wants the question before.
var ErrBack = errors.New("back to the question before")

const back = "back"

// Choose lets a person choose from a list, by number, first word, or an unambiguous beginning. An empty answer chooses the default, if
// there is one.
func (t *Terminal) Choose(ctx context.Context, question string, of []string, usual int) (int, error) {
	return t.choose(ctx, question, of, usual, false)
}

// ChooseOrBack is Choose for a question after another. The answer "back" is ErrBack.
func (t *Terminal) ChooseOrBack(ctx context.Context, question string, of []string, usual int) (int, error) {
	return t.choose(ctx, question, of, usual, true)
}

// AskOrBack asks for a text after another question. An empty answer is the default, and the answer "back" is ErrBack.
func (t *Terminal) AskOrBack(ctx context.Context, question, usual string) (string, error) {
	fmt.Fprintf(t.Stderr, "%s [%s], or back: ", question, wording.Printable(usual))
	text, err := t.ReadLine(ctx)
	if err == nil && strings.EqualFold(text, back) {
		err = ErrBack
	}
	return cmp.Or(text, usual), err
}

func (t *Terminal) choose(ctx context.Context, question string, of []string, usual int, mayGoBack bool) (int, error) {
	fmt.Fprintln(t.Stderr, question)
	for i, name := range of {
		fmt.Fprintf(t.Stderr, "  %d  %s\n", i+1, wording.Printable(name))
	}
	prompt := fmt.Sprintf("1-%d", len(of))
	if usual != NoDefault {
		prompt += fmt.Sprintf(" [%d]", usual+1)
	}
	if mayGoBack {
		prompt += ", or back"
	}
	prompt += ": "
	for {
		fmt.Fprint(t.Stderr, prompt)
		text, err := t.ReadLine(ctx)
		switch {
		case err != nil:
			return 0, err
		case mayGoBack && strings.EqualFold(text, back):
			return 0, ErrBack
		case text == "" && usual == NoDefault:
			return 0, errNoAnswer
		case text == "":
			return usual, nil
		}
		if i, ok := chosen(text, of); ok {
			return i, nil
		}
		if strings.Contains(text, "\x1b") { // an arrow, or another key that types no letter
			text = "that key"
		} else {
			text = strconv.Quote(text)
		}
		fmt.Fprintf(t.Stderr, "%s is not one of them: type a number from 1 to %d, or the first letters of a name\n", text, len(of))
	}
}

// chosen returns the index for an answer.
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

// Agree asks a yes-or-no question. Only "y" or "yes" agrees.
func (t *Terminal) Agree(ctx context.Context, question string) (bool, error) {
	fmt.Fprintf(t.Stderr, "%s [y/N] ", question)
	text, err := t.ReadLine(ctx)
	return err == nil && (strings.EqualFold(text, "y") || strings.EqualFold(text, "yes")), err
}

// ReadSecret reads a line and does not show it at a terminal; from a file or pipe it reads it unchanged. instead is the alternative that an
// error names.
func (t *Terminal) ReadSecret(ctx context.Context, question, instead string) (string, error) {
	f, ok := t.Stdin.(*os.File)
	if !ok || !IsTerminal(f) {
		return t.ReadLine(ctx)
	}
	if why := t.Unattended(); why != "" {
		return "", &failure.Error{Exit: failure.ExitPerson, Code: "choice-needed", Message: why, Fix: instead}
	}
	was, err := term.MakeRaw(int(f.Fd())) // hide the input before the question appears, for people who paste at once
	if err != nil {
		return "", err
	}
	defer func() { _ = term.Restore(int(f.Fd()), was) }()
	fmt.Fprint(t.Stderr, question)
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
		fmt.Fprint(t.Stderr, "\r\n")
		return "", context.Cause(ctx)
	case a := <-done:
		fmt.Fprint(t.Stderr, "\r\n")
		if a.err != nil {
			return "", errNoAnswer
		}
		return string(a.text), nil
	}
}
