package toolapi

import (
	"fmt"
	"slices"
	"strings"
)

// DataLoss is a number of rows, or values of a column, that a migration removes.
type DataLoss struct {
	Table     string `json:"table" jsonschema:"the table whose rows or values are lost"`
	Column    string `json:"column,omitempty" jsonschema:"the column whose values are lost; absent for whole rows"`
	Rows      int64  `json:"rows" jsonschema:"number of rows that are lost, or lose their value"`
	Statement string `json:"statement" jsonschema:"the statement that causes it, on one line"`
	File      string `json:"file" jsonschema:"the migration"`
	Line      int    `json:"line" jsonschema:"the line of the statement, counted from 1"`
	Cause     string `json:"cause" jsonschema:"delete, drop, cascade, set null, drop column, narrow or replace"`
	Allowed   bool   `json:"allowed,omitempty" jsonschema:"true: a comment above the statement allows it: pages: loses TABLE"`
}

// Rehearsal reports the effect of a revision's migrations on a copy of the page's database, or on the database itself.
type Rehearsal struct {
	State    RehearsalState   `json:"state" jsonschema:"done; not_needed: there is no migration to run; skipped: the reason says why"`
	Reason   string           `json:"reason,omitempty" jsonschema:"why it was skipped, such as: the database has 12 GB"`
	Tables   []RehearsedTable `json:"tables" jsonschema:"the tables that get more or fewer rows"`
	Files    []RehearsedFile  `json:"files" jsonschema:"the migrations that ran, in order"`
	Locked   float64          `json:"locked_milliseconds,omitempty" jsonschema:"how long visitors' writes wait for the write lock"`
	Warnings []string         `json:"warnings" jsonschema:"warnings for the person who approves these migrations"`
}

// RehearsedTable is the number of rows of a table before the migrations and after them.
type RehearsedTable struct {
	Table  string `json:"table"`
	Before int64  `json:"before"`
	After  int64  `json:"after"`
}

// RehearsedFile is a migration that ran.
type RehearsedFile struct {
	File         string  `json:"file"`
	Milliseconds float64 `json:"milliseconds" jsonschema:"duration"`
	Changed      int64   `json:"changed" jsonschema:"number of rows that it inserted, updated or deleted"`
}

// States of a Rehearsal.
const (
	RehearsalDone      RehearsalState = "done"
	RehearsalNotNeeded RehearsalState = "not_needed"
	RehearsalSkipped   RehearsalState = "skipped"
)

type (
	// RehearsalState is "done", "not_needed" or "skipped".
	RehearsalState string
	// TableNames are tables in an argument.
	TableNames []string
	// FileName is the name of a migration in an argument, without a folder.
	FileName string
	// FolderPath is a folder of a site in an argument.
	FolderPath string
	// FileNames are names of migrations in an argument.
	FileNames []string
)

// NewRehearsal returns a Rehearsal with empty lists instead of null.
func NewRehearsal(state RehearsalState, reason string) Rehearsal {
	return Rehearsal{State: state, Reason: reason, Tables: []RehearsedTable{}, Files: []RehearsedFile{}, Warnings: []string{}}
}

// WarnOfNeedless adds one warning for each allowed table without a loss.
func (r *Rehearsal) WarnOfNeedless(allowed TableNames, lost []DataLoss) {
	if r.State == RehearsalSkipped {
		return
	}
	for _, name := range allowed.Needless(lost) {
		if warning := fmt.Sprintf("allow_data_loss names %q, which loses nothing", name); !slices.Contains(r.Warnings, warning) {
			r.Warnings = append(r.Warnings, warning)
		}
	}
}

// Migrated is the part of the results of tools that make a revision live: the effect of its migrations on the page's data,
// expected or done. An older service omits both fields.
type Migrated struct {
	DataLoss  []DataLoss `json:"data_loss,omitzero" jsonschema:"the rows and values that the migrations remove; [] for none, and without a rehearsal"`
	Rehearsal *Rehearsal `json:"rehearsal,omitempty" jsonschema:"the run of the migrations, on a copy unless state is done"`
}

// RehearseArgs are the arguments of page.rehearse: a revision, or migrations before their upload. The page's migrations are
// then Migrations and Unchanged together, in bytewise order of their names.
type RehearseArgs struct {
	SiteID     UUID            `json:"site_id" jsonschema:"the site whose database is copied"`
	Revision   Name            `json:"revision,omitempty" jsonschema:"the revision whose migrations run; omit the arguments below then"`
	Force      bool            `json:"force,omitempty" jsonschema:"as in page.publish"`
	Migrations []MigrationText `json:"migrations,omitempty" jsonschema:"the migrations that the live revision lacks, or that differ there"`
	Unchanged  FileNames       `json:"unchanged,omitempty" jsonschema:"names of the migrations that the live revision has unchanged"`
	Folder     FolderPath      `json:"folder,omitempty" jsonschema:"the migrations' folder in the site, for messages; default migrations"`
	Tables     TableNames      `json:"tables,omitempty" jsonschema:"tables that must exist afterwards"`
	Scope
}

// MigrationText is a migration in an argument.
type MigrationText struct {
	Name FileName `json:"name" jsonschema:"the name of the file"`
	SQL  string   `json:"sql" jsonschema:"its text"`
}

// Rehearse is the result of the migrations on a copy of the page's database, which was removed
// afterwards.
type Rehearse struct {
	Success
	SiteID    string     `json:"site_id"`
	DataLoss  []DataLoss `json:"data_loss" jsonschema:"the rows and values that the migrations remove"`
	Rehearsal Rehearsal  `json:"rehearsal"`
}

// Report sets the effect of the migrations in a result.
func (m *Migrated) Report(of Migrated) { *m = of }

// Contains reports whether an argument names a table. SQLite ignores the case of ASCII letters.
func (t TableNames) Contains(table string) bool {
	return slices.ContainsFunc(t, func(name string) bool { return foldTable(name) == foldTable(table) })
}

// Needless returns the names of tables without a loss, each once.
func (t TableNames) Needless(lost []DataLoss) (names TableNames) {
	losing := LosingTables(lost)
	for _, name := range t {
		if !losing.Contains(name) && !names.Contains(name) {
			names = append(names, name)
		}
	}
	return names
}

// foldTable returns the name of a table as SQLite compares it.
func foldTable(name string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			r += 'a' - 'A'
		}
		return r
	}, name)
}

// CauseRestoreValues is the Cause of a DataLoss by a restore that keeps the rows and resets their values.
const CauseRestoreValues = "restore values"

// LossOf sums the losses of one table, or one of its columns, over several statements.
type LossOf struct {
	Table, Column string
	Rows          int64
	Back          bool // the rows stay, with their values from the restore point
}

// Of returns the loss without its statement.
func (l DataLoss) Of() LossOf {
	return LossOf{Table: l.Table, Column: l.Column, Rows: l.Rows, Back: l.Cause == CauseRestoreValues}
}

// String describes the loss: "people loses 2 rows", "people.email loses 1 value", "people: 2 rows back to the values of then".
func (l LossOf) String() string {
	what, name := "row", l.Table
	if l.Column != "" {
		what, name = "value", l.Table+"."+l.Column
	}
	if l.Rows != 1 {
		what += "s"
	}
	if l.Back {
		return fmt.Sprintf("%s: %d %s back to their values at that time", name, l.Rows, what)
	}
	return fmt.Sprintf("%s loses %d %s", name, l.Rows, what)
}

// SumLosses adds up losses by table and column, in the order of their first. Rows that stay with old values count separately.
func SumLosses(all []DataLoss) (sums []LossOf) {
	for _, l := range all {
		of := l.Of()
		i := slices.IndexFunc(sums, func(s LossOf) bool {
			return foldTable(s.Table) == foldTable(of.Table) && foldTable(s.Column) == foldTable(of.Column) && s.Back == of.Back
		})
		if i < 0 {
			sums = append(sums, of)
			continue
		}
		sums[i].Rows += of.Rows
	}
	return sums
}

// UnallowedLosses returns the losses without permission by a comment in the migration or by the given tables.
func UnallowedLosses(all []DataLoss, allowed TableNames) (rest []DataLoss) {
	for _, l := range all {
		if !l.Allowed && !allowed.Contains(l.Table) {
			rest = append(rest, l)
		}
	}
	return rest
}

// LosingTables returns the tables of losses, each once, in their order.
func LosingTables(all []DataLoss) (names TableNames) {
	for _, l := range all {
		if !names.Contains(l.Table) {
			names = append(names, l.Table)
		}
	}
	return names
}
