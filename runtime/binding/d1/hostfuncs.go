package d1

import (
	"context"

	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
)

// Funcs are the host functions of D1Database. open returns the database of a binding's id, nil for an unknown one. A quick
// read returns its value at once; other work runs off the isolate's goroutine and returns a promise. Either takes effect in the
// order of the calls: a read sees the calls before it, and none after it.
//
//	db_query(id, sql, params, shape, column)
//	db_batch(id, [sql, params, sql, params, …])
//	db_exec(id, text)
//	db_bookmark(id) is the bookmark of a session with all changes so far
func Funcs(open func(id string) *Database) map[string]engine.Func {
	var quick quickReads
	type work func(ctx context.Context, d *Database, t *hostcall.Turn) (*jsonText, error)
	on := func(c *engine.Call, place func(*Database) *hostcall.Turn, do work) (any, error) {
		d := open(c.String(0))
		if d == nil {
			return nil, engine.TypeError("the database binding %q does not exist", c.String(0))
		}
		quick.count = 0
		take := func() *hostcall.Turn { return place(d) }
		return hostcall.InOrder(take, func(ctx context.Context, t *hostcall.Turn) (any, error) {
			out, err := do(ctx, d, t)
			return out.value(), err
		}), nil
	}
	return map[string]engine.Func{
		"db_query": func(c *engine.Call) (any, error) {
			params, _ := c.Value(2).([]any)
			q, column := Query{SQL: c.String(1), Params: params}, ""
			shape := resultShape(c.Int(3))
			if shape == shapeColumn {
				column = c.String(4)
			}
			if out, done, err := quick.run(c, open(c.String(0)), q, shape, column); done {
				c.EndIO()
				return out.value(), err
			}
			place := func(d *Database) *hostcall.Turn { return d.Place(q) }
			return on(c, place, func(ctx context.Context, d *Database, t *hostcall.Turn) (*jsonText, error) {
				return d.queryInTurn(ctx, q, shape, column, t.End)
			})
		},
		"db_batch": func(c *engine.Call) (any, error) {
			list, _ := c.Value(1).([]any)
			queries := make([]Query, 0, len(list)/2)
			for i := 0; i+1 < len(list); i += 2 {
				text, _ := list[i].(string)
				params, _ := list[i+1].([]any)
				queries = append(queries, Query{text, params})
			}
			return on(c, (*Database).Writes, func(ctx context.Context, d *Database, _ *hostcall.Turn) (*jsonText, error) {
				return d.batch(ctx, queries)
			})
		},
		"db_bookmark": func(c *engine.Call) (any, error) {
			if d := open(c.String(0)); d != nil {
				return d.Bookmark(), nil
			}
			return "", nil
		},
		"db_exec": func(c *engine.Call) (any, error) {
			text := c.String(1)
			return on(c, (*Database).Writes, func(ctx context.Context, d *Database, _ *hostcall.Turn) (*jsonText, error) {
				return d.exec(ctx, text)
			})
		},
	}
}
