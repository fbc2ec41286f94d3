package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// sqlInput is the text a command runs: its first argument, a file or stdin. The second
// argument is the site's folder.
func (c *cli) sqlInput(ctx context.Context, args []string, file string) (name string, r io.ReadCloser, err error) {
	_, dir := first(args)
	if err := c.siteArgument(dir); err != nil {
		return "", nil, err
	}
	switch {
	case len(args) > 0 && file != "":
		return "", nil, failure.Usage("an argument and --file both give SQL; give one of them")
	case len(args) > 0 && args[0] != "-":
		return "SQL", io.NopCloser(strings.NewReader(args[0])), nil
	case file != "" && file != "-":
		f, err := c.openInput(ctx, file)
		return file, f, err
	case len(args) == 0 && file == "" && terminal.IsTerminalReader(c.term.Stdin):
		return "", nil, failure.Usage("there is no SQL: give it as an argument, with --file or on stdin")
	}
	return "stdin", io.NopCloser(userfile.Interruptible(ctx, c.term.Stdin)), nil
}

// openInput opens a file of SQL or rows, or a database.
func (c *cli) openInput(ctx context.Context, file string) (io.ReadCloser, error) {
	f, err := userfile.Open(ctx, c.term.Path(file))
	if err != nil && ctx.Err() == nil {
		err = &failure.Error{Exit: failure.ExitRefused, Code: "unreadable", Message: fmt.Sprintf("%s cannot be read: %s", wording.QuotePath(file), failure.Reason(err)), Err: err}
	}
	return f, err
}

// sqlArguments reads the values of --param. Each is a number, null, 'text', X'00ff' or else the text it is; before
// it may stand :name=.
func sqlArguments(given []string) ([]any, error) {
	var args []any
	for _, g := range given {
		name, text, named := strings.Cut(g, "=")
		if named && len(name) > 1 && strings.ContainsRune(":@$", rune(name[0])) && strings.Trim(name[1:], wordCharacters) == "" {
			value, err := sqlValue(text)
			if err != nil {
				return nil, err
			}
			args = append(args, d1.Named{Name: name, Value: value})
			continue
		}
		value, err := sqlValue(g)
		if err != nil {
			return nil, err
		}
		args = append(args, value)
	}
	return args, nil
}

const wordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

func sqlValue(text string) (any, error) {
	quoted := len(text) >= 2 && strings.HasSuffix(text, "'")
	switch {
	case strings.EqualFold(text, "null"):
		return nil, nil
	case quoted && text[0] == '\'':
		return strings.ReplaceAll(text[1:len(text)-1], "''", "'"), nil
	case quoted && len(text) >= 3 && (text[:2] == "x'" || text[:2] == "X'"):
		var b []byte
		if _, err := fmt.Sscanf(text[2:len(text)-1]+"\n", "%x\n", &b); err != nil && len(text) > 3 {
			return nil, failure.Usage("--param %s is no blob: between the quotes stand pairs of hex digits", text)
		}
		return append([]byte{}, b...), nil
	case strings.Trim(text, "+-.0123456789eE") != "":
		return text, nil
	}
	if n, err := strconv.ParseInt(text, 10, 64); err == nil {
		return n, nil
	}
	if f, err := strconv.ParseFloat(text, 64); err == nil {
		return f, nil
	}
	return text, nil
}

// isDatabase reports whether a file begins as a SQLite database does. A pipe is none.
func isDatabase(r io.Reader) bool {
	f, ok := r.(io.ReaderAt)
	if !ok {
		return false
	}
	head := make([]byte, 16)
	n, _ := f.ReadAt(head, 0) // a short file is none
	return bytes.Equal(head[:n], []byte("SQLite format 3\x00"))
}
