package devagent

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// This file has the tools for the data of the site.

func (t *tools) addData() {
	add(t, "query", reads,
		"Runs one SQL statement that reads the site's local database, and returns at most 200 rows. It cannot write. Ask "+
			"sqlite_schema for the tables first.",
		t.query,
	)
	add(t, "logs_sql", reads,
		"Runs one SQL statement over the request log, in the views requests, spans (the steps of requests) and logs, and returns at "+
			"most 200 rows. Use it for questions over many requests, such as the slowest statements. `pages logs sql --help`, which "+
			"docs_search finds, lists the columns.",
		t.queryLog,
	)
	add(t, "leads", reads,
		"Lists the form posts that the site received, the newest first, with their fields.",
		t.leads,
	)
	add(t, "events", reads,
		"Lists the events of form posts, the newest first, with the state of their delivery to the webhook.",
		t.events,
	)
	add(t, "state_save", writes,
		"Saves the databases, keys and objects of the local site as a snapshot, also while the dev server runs. Use it before "+
			"you change data. Needs --allow-write.",
		t.save,
	)
	add(t, "state_load", writes,
		"Replaces all local data of the site by a snapshot of state_save. The dev server must not run meanwhile. Needs "+
			"--allow-write.",
		t.load,
	)
}

// queryArguments are the arguments of query.
type queryArguments struct {
	SQL     string `json:"sql" jsonschema:"one statement, such as SELECT name, sql FROM sqlite_schema"`
	Project bool   `json:"project,omitempty" jsonschema:"ask the project database instead of the site's own"`
}

// rows is the result of query and logs_sql.
type rows struct {
	Columns []string            `json:"columns"`
	Rows    [][]json.RawMessage `json:"rows"`
	Cut     bool                `json:"cut,omitempty"` // there are more rows
}

const (
	maxRows      = 200
	queryTimeout = 20 * time.Second
)

func (t *tools) query(ctx context.Context, in queryArguments) (any, error) {
	args := []string{"db", "query", "-"}
	if in.Project {
		args = append(args, "--project")
	}
	return t.runSQL(ctx, in.SQL, args...)
}

// logQueryArguments are the arguments of logs_sql.
type logQueryArguments struct {
	SQL string `json:"sql" jsonschema:"one statement, such as SELECT path, count(*), avg(ms) FROM requests GROUP BY path"`
}

func (t *tools) queryLog(ctx context.Context, in logQueryArguments) (any, error) {
	return t.runSQL(ctx, in.SQL, "logs", "sql", "-", "--limit="+strconv.Itoa(maxRows+1))
}

// runSQL runs a command that takes SQL on stdin, and returns its first rows.
func (t *tools) runSQL(ctx context.Context, statement string, args ...string) (any, error) {
	ctx, cancel := context.WithTimeout(ctx, queryTimeout)
	defer cancel()
	var out rows
	err := t.Commands.decode(ctx, &out, statement, args...)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("the statement took longer than %s: ask for less, for example with LIMIT", queryTimeout)
	}
	all := len(out.Rows)
	out.Rows, out.Cut = fit(out.Rows[:min(all, maxRows)])
	out.Cut = out.Cut || all > maxRows
	return out, err
}

// listArguments are the arguments of leads and events.
type listArguments struct {
	Form  string `json:"form,omitempty" jsonschema:"only those of the form of this name"`
	Limit int    `json:"limit,omitempty" jsonschema:"at most this many, from 1 to 100; 20 without it"`
}

// list runs a command that lists leads or events.
func (t *tools) list(ctx context.Context, command string, in listArguments) (any, error) {
	limit, err := limited(in.Limit)
	if err != nil {
		return nil, err
	}
	args := []string{command, "list", "--limit=" + strconv.Itoa(limit)}
	if in.Form != "" {
		args = append(args, "--form="+in.Form)
	}
	var document map[string][]json.RawMessage
	if err := t.Commands.decode(ctx, &document, "", args...); err != nil {
		return nil, err
	}
	entries, cut := fit(document[command])
	return map[string]any{command: entries, "cut": cut}, nil
}

func (t *tools) leads(ctx context.Context, in listArguments) (any, error) {
	return t.list(ctx, "leads", in)
}

func (t *tools) events(ctx context.Context, in listArguments) (any, error) {
	return t.list(ctx, "events", in)
}

// saveArguments are the arguments of state_save.
type saveArguments struct {
	Name    string `json:"name" jsonschema:"the name of the snapshot: letters, digits, dots, - and _"`
	Replace bool   `json:"replace,omitempty" jsonschema:"replace a snapshot of that name"`
}

func (t *tools) save(ctx context.Context, in saveArguments) (any, error) {
	args := []string{"state", "save"}
	if in.Replace {
		args = append(args, "--force")
	}
	var saved json.RawMessage
	err := t.Commands.decode(ctx, &saved, "", append(args, "--", in.Name)...)
	return saved, err
}

// loadArguments are the arguments of state_load.
type loadArguments struct {
	Name string `json:"name" jsonschema:"the name of the snapshot"`
}

func (t *tools) load(ctx context.Context, in loadArguments) (any, error) {
	if r, ok := t.Server(); ok {
		return nil, fmt.Errorf("pages dev uses the data (process %d): stop it with `pages dev stop`, or Ctrl-C in its terminal, load the "+
			"snapshot with `pages state load %s`, then start it again with `pages dev --background`", r.PID, in.Name)
	}
	var loaded json.RawMessage
	err := t.Commands.decode(ctx, &loaded, "", "state", "load", "--yes", "--", in.Name)
	return loaded, err
}

// newestFirst sorts lines of the log by their time, which has one form.
func newestFirst(lines []map[string]json.RawMessage) []map[string]json.RawMessage {
	slices.SortStableFunc(lines, func(a, b map[string]json.RawMessage) int {
		return strings.Compare(string(b["time"]), string(a["time"]))
	})
	return lines
}
