package localsecrets

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/joho/godotenv"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
)

const (
	// MaxFile is the number of bytes that are read of a file of secrets.
	MaxFile = 4 << 20
	// pipeWait is the time that the writer of a named pipe has.
	pipeWait = 10 * time.Second

	byteOrderMark = "\ufeff"
)

// readFile reads a file of secrets: a regular file or a named pipe.
func readFile(ctx context.Context, path string) ([]byte, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if info.Mode()&fs.ModeNamedPipe == 0 {
		return userfile.ReadRegular(path)
	}
	ctx, cancel := context.WithTimeoutCause(ctx, pipeWait, fmt.Errorf("it is a pipe, and nothing was written to it in %v", pipeWait))
	defer cancel()
	text, err := userfile.Read(ctx, path, MaxFile)
	if err != nil && ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return text, err
}

// Format writes a file of secrets that Parse and other programs, such as wrangler, read in the same way: those programs do not support
// escaped quotes. Some values, such as those with both kinds of quotes, have no such form: the author must write them.
func Format(values map[string]string) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(values)) {
		value := values[name]
		line := "# " + name + " has quotes of both kinds, which this file cannot express: set it in the environment"
		forms := []string{`"` + value + `"`, "'" + value + "'", value}
		if _, err := strconv.Atoi(value); err == nil {
			forms = []string{value} // no quotes, as it has none of these characters
		}
		for i, form := range forms {
			if strings.ContainsAny(value, []string{"\"\\$`\r", "'", "#"}[i]) {
				continue
			}
			text := name + "=" + form
			if read, err := Parse("", []byte(text+"\n_=_\n")); err == nil && len(read) == 2 && read[name] == value {
				line = text
				break
			}
		}
		b.WriteString(line + "\n")
	}
	return b.String()
}

// Parse reads a file of secrets, which may begin with a byte order mark. No error shows its content.
func Parse(name string, text []byte) (map[string]string, error) {
	text = bytes.ReplaceAll(bytes.TrimPrefix(text, []byte(byteOrderMark)), []byte("\r\n"), []byte("\n"))
	values, err := godotenv.UnmarshalBytes(text)
	if err == nil {
		return values, nil
	}
	msg := name + " is not a file of secrets"
	if line := malformedLine(text, err); line > 0 {
		msg += fmt.Sprintf(": line %d is not NAME=value", line)
	} else if line := unclosedQuoteLine(text, err); line > 0 {
		msg += fmt.Sprintf(": the quote of line %d never ends", line)
	}
	return nil, &failure.Error{
		Exit: failure.ExitRefused, Code: "secrets-file", Message: msg,
		Fix: "write a line NAME=value for each, a value with spaces or line feeds between double quotes",
	}
}

// malformedLine returns the line at which the parser stopped, from the rest of the text in its error; 0 if unknown.
func malformedLine(text []byte, err error) int {
	_, quoted, found := strings.Cut(err.Error(), " in variable name near ")
	rest, failed := strconv.Unquote(quoted)
	if !found || failed != nil || !bytes.HasSuffix(text, []byte(rest)) {
		return 0
	}
	return 1 + bytes.Count(text[:len(text)-len(rest)], []byte("\n"))
}

// unclosedQuoteLine returns the line that ends in the unterminated value of a parser's error; 0 if unknown.
func unclosedQuoteLine(text []byte, err error) int {
	_, rest, found := strings.Cut(err.Error(), "unterminated quoted value ")
	if !found {
		return 0
	}
	at := 0
	for line := range strings.Lines(string(text)) {
		if at++; strings.HasSuffix(strings.TrimSuffix(line, "\n"), rest) {
			return at
		}
	}
	return 0
}
