package migrate

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/migrationfiles"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// A squash is one file that replaces several. It begins with their names and sums. On a database with all of them it is
// recorded in their place; on a database with none of them it runs. So the same folder works everywhere.

const squashHead = "-- pages squash 1: this file stands for"

// squashedFile is a file that a squash replaces, with the files that it replaced itself.
type squashedFile struct {
	name, sum string
	members   []squashedFile
}

// adoption is a squash that replaces entries of the ledger.
type adoption struct {
	file   File
	remove []string
	last   Entry // the latest of them, whose time the squash gets
}

// members reads the head of a squash; nil for any other file.
func (f File) members() []squashedFile {
	text := bytes.TrimPrefix(f.SQL, []byte(sqltext.BOM))
	first, rest, _ := strings.Cut(string(text[:min(len(text), maxHead)]), "\n")
	if strings.TrimSpace(first) != squashHead {
		return nil
	}
	var all []squashedFile
	for line := range strings.Lines(rest) {
		fields := strings.SplitN(strings.TrimRight(line, "\r\n"), " ", 3)
		if len(fields) != 3 || len(fields[1]) != 64 || strings.Trim(fields[0], "-") != "" {
			break
		}
		at := &all
		for depth := len(fields[0]); depth > 2 && len(*at) > 0; depth-- { // one dash more for members of members
			at = &(*at)[len(*at)-1].members
		}
		*at = append(*at, squashedFile{name: fields[2], sum: fields[1]})
	}
	return all
}

// maxHead bounds the head of a squash, in bytes.
const maxHead = 1 << 20

// SquashedNames returns the names of all files that a squash replaces, directly or not; none for other files.
func SquashedNames(sql []byte) []string {
	var names []string
	var add func(all []squashedFile)
	add = func(all []squashedFile) {
		for _, m := range all {
			names = append(names, m.name)
			add(m.members)
		}
	}
	add(File{SQL: sql}.members())
	return names
}

// squash compares a file that may be a squash with the ledger.
func (c *comparison) squash(f File) {
	members := f.members()
	if len(members) == 0 {
		return
	}
	if _, done := c.known[f.Name]; done {
		c.passOver(f, members)
		return
	}
	var applied []string
	covered := true
	for _, m := range members {
		names, ok := c.covers(m)
		applied = append(applied, names...)
		covered = covered && ok
	}
	switch {
	case len(applied) == 0:
		c.passOver(f, members)
	case !covered:
		for _, name := range append(applied, f.Name) {
			c.squashed[name] = true
		}
		c.refusals = append(c.refusals, f.errorWhole(CodeSquash,
			fmt.Sprintf("the file replaces %d migrations, and this database has applied %s of them, or other versions",
				len(members), strings.Join(applied, ", ")),
			"apply the others first, with the folder as it was before the squash; or start over with pages migrate reset"))
	default:
		c.passOver(f, members)
		c.squashed[f.Name] = true
		c.Squashed = append(c.Squashed, f)
		a := adoption{file: f, remove: applied}
		for _, name := range applied {
			if e := c.known[name]; e.Position >= a.last.Position {
				a.last = e
			}
			c.squashed[name] = true
		}
		c.adopt = append(c.adopt, a)
	}
}

// covers reports whether the ledger has a file, or all the files that it replaced, and under which names.
func (c *comparison) covers(m squashedFile) (names []string, ok bool) {
	if e, done := c.known[m.name]; done {
		return []string{m.name}, e.SHA256 == m.sum
	}
	if len(m.members) == 0 {
		return nil, false
	}
	ok = true
	for _, inner := range m.members {
		more, covered := c.covers(inner)
		names = append(names, more...)
		ok = ok && covered
	}
	return names, ok
}

// passOver skips the files that the squash f replaces.
func (c *comparison) passOver(f File, members []squashedFile) {
	for _, m := range members {
		c.passOver(f, m.members)
		if sum, present := c.sums[m.name]; present && sum == m.sum {
			c.squashed[m.name] = true
			c.Warnings = append(c.Warnings, notice(File{Name: m.name, Path: c.path(m.name)}, CodeSquashed,
				fmt.Sprintf("%q replaces this migration, which you can remove", f.Name)))
		}
	}
}

// adopt records squashes in place of the files that they replace, in the open transaction.
func (r *run) adopt(ctx context.Context) error {
	for _, a := range r.status.adopt {
		entry := a.last
		entry.Name, entry.SHA256, entry.Tool, entry.DurationMS = a.file.Name, r.set.sums[a.file.Name], r.o.Tool, 0
		if err := replaceEntries(ctx, r.conn, a.remove, []Entry{entry}); err != nil {
			return err
		}
		r.result.Squashed = append(r.result.Squashed, a.file.Name)
	}
	return nil
}

// Squash is one file that replaces several.
type Squash struct {
	File     File     // to write
	Replaces []string // names of the files to remove afterwards
}

// Squash merges all files up to the name upTo into one. dump writes a private database as SQL. Squash verifies that the new file gives the
// same dump as the files that it replaces. It writes nothing; the next Apply records the new file on databases with the old ones.
func (m *Migrator) Squash(ctx context.Context, upTo string, dump func(ctx context.Context, db *sql.DB, w io.Writer) error) (Squash, error) {
	set, status, err := m.compare(ctx)
	if err == nil {
		err = status.Refusal()
	}
	if err != nil {
		return Squash{}, err
	}
	head := set // the files up to upTo
	head.files = slices.DeleteFunc(slices.Clone(set.files), func(f File) bool { return f.Name > upTo })
	out, err := m.squashHead(set, head, status, upTo)
	if err != nil {
		return Squash{}, err
	}
	before, err := m.dumpOf(ctx, head, dump)
	if err != nil {
		return Squash{}, err
	}
	out.File.SQL = append(out.File.SQL, before...)
	alone := fileSet{files: []File{out.File}, sums: map[string]string{out.File.Name: out.File.Sum()}}
	if len(out.File.SQL) > MaxFileSize {
		return Squash{}, out.File.tooLarge()
	}
	after, err := m.dumpOf(ctx, alone, dump)
	if err != nil {
		return Squash{}, fmt.Errorf("try the squash: %w", err)
	}
	if !bytes.Equal(before, after) {
		return Squash{}, refuse(CodeSquash, "no single file can produce the same database as these migrations",
			"squash fewer of them")
	}
	return out, nil
}

// squashHead names the new file and the files that it replaces, and refuses files that cannot be squashed.
func (m *Migrator) squashHead(set, head fileSet, status Status, upTo string) (Squash, error) {
	if _, there := set.sums[upTo]; !there {
		return Squash{}, refuse(CodeSquash, fmt.Sprintf("there is no migration %q", upTo), "pass the name of a file in the migrations "+
			"directory")
	}
	if len(head.files) < 2 {
		return Squash{}, refuse(CodeSquash, fmt.Sprintf("%q is the first migration: there is nothing to squash", upTo), "pass a later one")
	}
	pending := slices.ContainsFunc(status.Pending, func(f File) bool { return f.Name <= upTo })
	if pending && len(status.Applied) > 0 {
		return Squash{}, refuse(CodeSquash, fmt.Sprintf("not all migrations up to %q are applied here", upTo), "run pages migrate first")
	}
	name := strings.TrimSuffix(upTo, ".sql")
	if n := migrationfiles.Number(upTo); n != "" {
		name = n
	}
	name += "_squashed.sql"
	if name == upTo {
		name = strings.TrimSuffix(upTo, ".sql") + "_again.sql"
	}
	_, taken := set.sums[name]
	last := head.files[len(head.files)-1]
	next := slices.IndexFunc(set.files, func(f File) bool { return f.Name > upTo })
	if taken || next >= 0 && name >= set.files[next].Name {
		return Squash{}, refuse(CodeSquash,
			fmt.Sprintf("the name of the squash would be %q, which does not sort between %q and the next migration", name, last.Name),
			"squash up to another migration",
		)
	}
	out := Squash{File: File{Name: name, Path: set.path(name)}}
	var text strings.Builder
	text.WriteString(squashHead + "\n")
	for _, f := range head.files {
		out.Replaces = append(out.Replaces, f.Name)
		squashedFile{f.Name, set.sums[f.Name], f.members()}.write(&text, "--")
	}
	text.WriteString("\nPRAGMA defer_foreign_keys = ON;\n")
	out.File.SQL = []byte(text.String())
	return out, nil
}

func (m squashedFile) write(out *strings.Builder, dashes string) {
	out.WriteString(dashes + " " + m.sum + " " + m.name + "\n")
	for _, inner := range m.members {
		inner.write(out, dashes+"-")
	}
}

// dumpOf applies files to an empty database, and dumps it.
func (m *Migrator) dumpOf(
	ctx context.Context, set fileSet, dump func(ctx context.Context, db *sql.DB, w io.Writer) error,
) (text []byte, err error) {
	db, err := scratch()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if _, err := m.replay(ctx, db, set, nil); err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := dump(ctx, db, &out); err != nil {
		return nil, fmt.Errorf("write the squash: %w", err)
	}
	return out.Bytes(), nil
}
