package sqlshell

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// Query runs one read-only statement, and writes its rows to out.
func (d *Database) Query(ctx context.Context, statement migrate.Statement, values []any, out *RowWriter) error {
	_, err := d.Run(ctx, statement.Text, values, out.Begin, out.Row)
	if err != nil {
		left := "nothing was changed"
		if e, ok := errors.AsType[*d1.SQLError](err); ok && e.OnlyReading() {
			left = "pages db exec runs statements that write; " + left
		}
		return Failure(errors.Join(out.Abort(), transfer.Blame(statement, err)), d.Advice(ctx, err, left))
	}
	return out.End()
}

// OneStatement parses the only statement of a text, which messages call name, for a command such as "db query".
func OneStatement(command, name string, r io.Reader) (migrate.Statement, error) {
	in := migrate.NewStatements(name, r)
	statement, err := in.Next()
	switch {
	case errors.Is(err, io.EOF):
		err = &transfer.Error{
			Code: transfer.CodeStatement, Msg: "there is no SQL statement in " + name,
			Fix: `give one as an argument, as in pages ` + command + ` "SELECT 1", with --file or on stdin`,
		}
	case err != nil:
		err = transfer.BlameText(err)
	default:
		err = checkEnd(command, in)
	}
	return statement, Failure(err, "nothing was run")
}

// checkEnd refuses a further statement.
func checkEnd(command string, in *migrate.Statements) error {
	second, err := in.Next()
	if errors.Is(err, io.EOF) {
		return nil
	}
	if err != nil {
		return transfer.BlameText(err)
	}
	e := &transfer.Error{
		Code: transfer.CodeStatement, Msg: "a second statement begins here, and a query is one",
		Fix: "run each with a pages " + command + " of its own",
	}
	if command == "db query" {
		e.Fix = "use pages db exec for several statements, or pages db shell"
	}
	e.Pos, e.Source, e.SourceColumn = second.At(0)
	return e
}

// Parameters reads the values of --param. Each is a number, null, 'text', X'00ff' or a plain text, optionally after :name=.
func Parameters(given []string) ([]any, error) {
	var values []any
	for _, text := range given {
		name, rest, named := strings.Cut(text, "=")
		named = named && len(name) > 1 && strings.ContainsRune(":@$", rune(name[0])) && strings.Trim(name[1:], wordCharacters) == ""
		if named {
			text = rest
		}
		value, err := parameter(text)
		if err != nil {
			return nil, err
		}
		if named {
			value = d1.Named{Name: name, Value: value}
		}
		values = append(values, value)
	}
	return values, nil
}

const wordCharacters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

func parameter(text string) (any, error) {
	quoted := len(text) >= 2 && strings.HasSuffix(text, "'")
	switch {
	case strings.EqualFold(text, "null"):
		return nil, nil
	case quoted && text[0] == '\'':
		return strings.ReplaceAll(text[1:len(text)-1], "''", "'"), nil
	case quoted && len(text) >= 3 && (text[:2] == "x'" || text[:2] == "X'"):
		var b []byte
		if _, err := fmt.Sscanf(text[2:len(text)-1]+"\n", "%x\n", &b); err != nil && len(text) > 3 {
			return nil, failure.Usage("--param %s is not a blob: write pairs of hex digits between the quotes", text)
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
