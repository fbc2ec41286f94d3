package sqlshell

import (
	"context"
	"errors"
	"io"

	"github.com/pages-toolchain/pages/migrate"
	"github.com/pages-toolchain/pages/migrate/transfer"
	"github.com/pages-toolchain/pages/runtime/binding/d1"
)

// Query runs one statement that cannot write, and writes its rows to out.
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

// OneStatement reads the one statement of a text, which messages call name.
func OneStatement(name string, r io.Reader) (migrate.Statement, error) {
	statement, err := oneStatement(name, r)
	return statement, Failure(err, "nothing was run")
}

func oneStatement(name string, r io.Reader) (migrate.Statement, error) {
	in := migrate.NewStatements(name, r)
	first, err := in.Next()
	if errors.Is(err, io.EOF) {
		return first, &transfer.Error{
			Code: transfer.CodeStatement, Msg: "there is no SQL statement in " + name,
			Fix: `give one as an argument, as in pages db query "SELECT 1", with --file or on stdin`,
		}
	}
	if err != nil {
		return first, transfer.BlameText(err)
	}
	second, err := in.Next()
	if errors.Is(err, io.EOF) {
		return first, nil
	}
	if err != nil {
		return first, transfer.BlameText(err)
	}
	e := &transfer.Error{
		Code: transfer.CodeStatement, Msg: "a second statement begins here, and a query is one",
		Fix: "use pages db exec for several statements, or pages db shell",
	}
	e.Pos, e.Source, e.SourceColumn = second.At(0)
	return first, e
}
