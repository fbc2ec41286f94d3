package validate

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

// TestTables reads scripts a byte at a time, so that no word may lie in one buffer.
func TestTables(t *testing.T) {
	for script, want := range map[string]string{
		"":                                                       "",
		"CREATE TABLE a (id);":                                   "a",
		"create\ttable\r\nA(id)":                                 "a",
		"create table if not exists a(id)":                       "a",
		`create table "A b" (id)`:                                "a b",
		`create table "a""b" (id)`:                               `a"b`,
		"create table `a`(id)":                                   "a",
		"create table [a b](id)":                                 "a b",
		"create table 'a'(id)":                                   "a",
		"create table main.a (id)":                               "a",
		`create table "main"."a" (id)`:                           "a",
		"create table main.[a] (id)":                             "a",
		"create temp table a(id)":                                "",
		"create temporary view a as select":                      "",
		"create temp table a(id); create table b(id)":            "b",
		"create table temp.a(id); create table main.b(id)":       "b",
		"create table temp(id)":                                  "temp",
		"create table a(id); drop table temp.a":                  "a",
		"create table a(id); alter table temp.a rename to b":     "a",
		"create virtual table a using fts5":                      "a",
		"create view a as select 1":                              "a",
		"create unique index a on b(c)":                          "",
		"create trigger a after insert on b begin select 1; end": "",
		"-- create table a\ncreate table b":                      "b",
		"/* create table a */ create table b":                    "b",
		"/* create table a **/create table b":                    "b",
		"/* create table a":                                      "",
		"create/**/table--x\na":                                  "a",
		"select 'create table a'":                                "",
		"select 'create', 'table', a":                            "",
		`select "create" table a`:                                "",
		"select 'it''s' create table a":                          "a",
		"select 1-1 create table a":                              "a",
		"select 1/1; create table a":                             "a",
		"\ufeffcreate table a(id)":                               "a",
		"create table a(id); drop table a":                       "",
		"create table a(id); drop table if exists main.a;":       "",
		"create view a as select 1; drop view A":                 "",
		"drop index a; create table a":                           "a",
		"create table a(id); alter table a rename to b":          "b",
		"create table a(id); alter table a rename c to d":        "a",
		"create table a(id); alter table a rename column c to d": "a",
		"create table a(id); alter table a add column to_x":      "a",
		"create table n(id); drop table a; alter table n rename to a; create table b(id)": "a b",
		"alter table a rename to create table b":                                          "create",
		"create table (":                                                                  "(",
		"create table " + strings.Repeat("a", 600):                                        strings.Repeat("a", 512),
		"create table é(id)":                                                              "é",
		"create table ÄB(id)":                                                             "äb",
		"created table a; recreate table b":                                               "",
		"create":                                                                          "",
		"create table":                                                                    "",
		`create table "a`:                                                                 "a",
	} {
		t.Run(script, func(t *testing.T) {
			got := tables{}
			if err := got.apply(iotest.OneByteReader(strings.NewReader(script))); err != nil {
				t.Errorf("%s: %v", script, err)
			}
			if list := strings.Join(slices.Sorted(maps.Keys(got)), " "); list != want {
				t.Errorf("%s: %q, want %q", script, list, want)
			}
		})
	}
	broken := errors.New("broken")
	if err := (tables{}).apply(iotest.ErrReader(broken)); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}
