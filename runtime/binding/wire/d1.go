package wire

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/runtime/binding/d1"
	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
)

const (
	// maxQueries is the maximum number of bytes of the JSON of a call's queries.
	maxQueries = 64 << 20
	// maxStatements is the maximum number of queries of a call, and maxParams the maximum number of values of one: SQLite binds no more.
	maxStatements, maxParams = 10_000, 32_766
	// sessionHeader has the bookmark of a session.
	sessionHeader = "X-Cf-D1-Session-Commit-Token"
)

type database struct{ *d1.Database }

func (d database) serve(ctx context.Context, c *call) error {
	c.record.Method = strings.TrimPrefix(c.r.URL.Path, "/")
	if c.record.Method == "dump" { // its client reads the body of a 200 as the database
		c.record.Err = "dump() is not available: copy the database file instead"
		return c.answer(http.StatusNotImplemented, "application/json", []byte(`{"success":false,"error":"`+c.record.Err+`"}`))
	}
	if c.r.Method != http.MethodPost || c.record.Method != "query" && c.record.Method != "execute" {
		return refuse(http.StatusNotFound, "D1 has no %s %s", c.r.Method, c.r.URL.Path)
	}
	raw, err := c.whole(ctx, maxQueries, refuse(http.StatusRequestEntityTooLarge, "the queries are larger than %d MiB", maxQueries>>20))
	if err != nil {
		return err
	}
	if err := engine.Reserve(ctx, 2*int64(len(raw))); err != nil { // copies of it
		return err
	}
	queries, many, err := parseQueries(raw)
	if err != nil {
		return err
	}
	format := d1.Objects
	if c.r.URL.Query().Get("resultsFormat") == "ROWS_AND_COLUMNS" {
		format = d1.Rows
	}
	take := d.Writes
	if !many {
		take = func() *hostcall.Turn { return d.Place(queries[0]) }
	}
	answer, err := hostcall.Run(ctx, c.place(ctx, take), func(ctx context.Context, t *hostcall.Turn) ([]byte, error) {
		switch {
		case !many:
			return d.Query(ctx, queries[0], format, t.End)
		case c.record.Method == "execute":
			c.record.Method = "exec"
			lines := make([]string, len(queries))
			for i, q := range queries {
				lines[i] = q.SQL
			}
			return d.Exec(ctx, lines)
		}
		c.record.Method = "batch"
		return d.Batch(ctx, queries, format)
	})
	if err != nil {
		return err
	}
	if strings.TrimSpace(c.r.Header.Get(sessionHeader)) != "" {
		c.w.Header().Set(sessionHeader, d.Bookmark())
	}
	return c.answer(http.StatusOK, "application/json", answer)
}

// given is a client's query.
type given struct {
	SQL    json.RawMessage `json:"sql"`
	Params json.RawMessage `json:"params"`
}

// parseQueries reads one query or a list of them.
func parseQueries(raw []byte) (queries []d1.Query, many bool, err error) {
	many = bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte{'['})
	take := func(one given) error {
		q, err := one.query()
		queries = append(queries, q)
		return err
	}
	if many {
		err = eachOf(raw, maxStatements, take)
	} else {
		var one given
		if err = json.Unmarshal(raw, &one); err == nil {
			err = take(one)
		}
	}
	if _, refused := errors.AsType[refusalError](err); err != nil && !refused {
		err = refuse(http.StatusBadRequest, "the queries are not valid: %v", err)
	}
	return queries, many, err
}

// eachOf calls take for each item of a JSON array with at most `most` items, so that few bytes of JSON do not become many values.
func eachOf[T any](raw []byte, most int, take func(T) error) error {
	d := json.NewDecoder(bytes.NewReader(raw))
	if first, err := d.Token(); err != nil || first != json.Delim('[') {
		return cmp.Or(err, errors.New("a list is none"))
	}
	for n := 0; d.More(); n++ {
		if n == most {
			return fmt.Errorf("a list has more than %d items", most)
		}
		var item T
		if err := d.Decode(&item); err != nil {
			return err
		}
		if err := take(item); err != nil {
			return err
		}
	}
	if _, err := d.Token(); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errors.New("something follows the list")
	}
	return nil
}

func (g given) query() (q d1.Query, err error) {
	if len(g.SQL) == 0 || g.SQL[0] != '"' || json.Unmarshal(g.SQL, &q.SQL) != nil {
		return q, refuse(http.StatusBadRequest, "The SQL must be a string, not of type '%s'", typeOf(g.SQL))
	}
	if len(g.Params) == 0 || string(g.Params) == "null" {
		return q, nil
	}
	return q, eachOf(g.Params, maxParams, func(p param) error {
		q.Params = append(q.Params, p.value)
		return nil
	})
}

// typeOf is the type of a JSON value, as JavaScript names it.
func typeOf(raw json.RawMessage) string {
	switch {
	case len(raw) == 0:
		return "undefined"
	case raw[0] == 't' || raw[0] == 'f':
		return "boolean"
	case raw[0] == '-' || raw[0] >= '0' && raw[0] <= '9':
		return "number"
	case raw[0] == '"':
		return "string"
	}
	return "object"
}

// param is a value to bind: a number, a string, null, or bytes as an array of numbers.
type param struct{ value any }

// UnmarshalJSON implements json.Unmarshaler.
func (p *param) UnmarshalJSON(raw []byte) error {
	switch kind := typeOf(raw); {
	case kind == "number":
		n, err := strconv.ParseFloat(string(raw), 64)
		if err != nil && !math.IsInf(n, 0) {
			return err
		}
		p.value = n
	case kind == "string":
		var s string
		if err := json.Unmarshal(raw, &s); err != nil {
			return err
		}
		p.value = s
	case raw[0] == '[':
		list, err := byteList(raw)
		p.value = list
		return err
	case raw[0] == 'n':
		p.value = nil
	default:
		p.value = engine.Unsupported{Type: kind}
	}
	return nil
}

// byteList reads a JSON array of numbers as a Uint8Array takes them: null is 0, fractions are cut, and the integer is taken modulo 256. A
// list with other items cannot be bound.
func byteList(raw []byte) ([]byte, error) {
	inner := bytes.TrimSpace(raw[1 : len(raw)-1])
	if len(inner) == 0 {
		return []byte{}, nil
	}
	out := make([]byte, 0, bytes.Count(inner, []byte{','})+1)
	for item := range bytes.SplitSeq(inner, []byte{','}) {
		item = bytes.TrimSpace(item)
		if string(item) == "null" {
			out = append(out, 0)
			continue
		}
		n, err := strconv.ParseFloat(string(item), 64)
		if err != nil || math.Abs(n) > 1<<53 {
			return nil, refuse(http.StatusBadRequest, "Type 'object' not supported for a bound value")
		}
		out = append(out, byte(int64(n)))
	}
	return out, nil
}
