package wire

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"strconv"
	"strings"

	"github.com/pages-toolchain/pages/runtime/binding/d1"
	"github.com/pages-toolchain/pages/runtime/binding/hostcall"
	"github.com/pages-toolchain/pages/runtime/engine"
)

const (
	// maxQueries is the most bytes of the JSON of a call's queries.
	maxQueries = 64 << 20
	// sessionHeader has the bookmark of a session.
	sessionHeader = "X-Cf-D1-Session-Commit-Token"
)

type database struct{ *d1.Database }

func (d database) serve(ctx context.Context, c *call) error {
	c.record.Method = strings.TrimPrefix(c.r.URL.Path, "/")
	if c.r.Method != http.MethodPost || c.record.Method != "query" && c.record.Method != "execute" {
		return refuse(http.StatusNotFound, "D1 has no %s %s", c.r.Method, c.r.URL.Path)
	}
	raw, err := c.whole(ctx, maxQueries, refuse(http.StatusRequestEntityTooLarge, "the queries are larger than %d MiB", maxQueries>>20))
	if err != nil {
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

// given is a query as a client sends it.
type given struct {
	SQL    json.RawMessage `json:"sql"`
	Params []param         `json:"params"`
}

// parseQueries reads one query or a list of them.
func parseQueries(raw []byte) (queries []d1.Query, many bool, err error) {
	var list []given
	if many = bytes.HasPrefix(bytes.TrimLeft(raw, " \t\r\n"), []byte{'['}); many {
		err = json.Unmarshal(raw, &list)
	} else {
		list = make([]given, 1)
		err = json.Unmarshal(raw, &list[0])
	}
	if err != nil {
		return nil, many, refuse(http.StatusBadRequest, "the queries are not valid: %v", err)
	}
	for _, one := range list {
		q := d1.Query{}
		if len(one.SQL) == 0 || json.Unmarshal(one.SQL, &q.SQL) != nil || one.SQL[0] != '"' {
			return nil, many, refuse(http.StatusBadRequest, "The SQL must be a string, not of type '%s'", typeOf(one.SQL))
		}
		for _, p := range one.Params {
			q.Params = append(q.Params, p.value)
		}
		queries = append(queries, q)
	}
	return queries, many, nil
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

// byteList reads a JSON array of numbers as a Uint8Array takes them: null is 0, fractions are cut, and what is left is taken modulo
// 256. A list of anything else is no value to bind.
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
