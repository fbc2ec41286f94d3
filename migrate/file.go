package migrate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/token"
	"io/fs"
	"math/big"
	"path"
	"strings"
	"time"
	"unicode"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/migrationfiles"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/migrate/sqltext"
)

const (
	// MaxFileSize bounds a migration file, in bytes.
	MaxFileSize = migrationfiles.MaxBytes

	maxNameLength = 255 // bytes of a file name that every file system accepts
)

// File is one migration. The hash covers exactly the bytes that run.
type File struct {
	Name string // the base name, such as "0001_posts.sql"
	Path string // in positions of errors; default Name
	SQL  []byte // the file's text as it is on disk
}

// Sum is the SHA-256 of the text in hex, without a leading byte order mark and with CRLF read as LF, so that a checkout
// with other line endings has the same sum.
func (f File) Sum() string {
	text := bytes.TrimPrefix(f.SQL, []byte(sqltext.BOM))
	text = bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

func (f File) path() string {
	if f.Path == "" {
		return f.Name
	}
	return f.Path
}

func (f File) errorAt(offset int, code, msg, fix string) *Error {
	return &Error{Pos: position(f.path(), f.SQL, offset), Code: code, Msg: msg, Fix: fix}
}

func (f File) errorWhole(code, msg, fix string) *Error {
	return &Error{Pos: token.Position{Filename: f.path()}, Code: code, Msg: msg, Fix: fix}
}

// Read returns the migrations of the directory dir in bytewise filename order, in which they are applied. Package
// migrationfiles has the rules: one refusal fails the whole directory, and the error lists all of them. Warnings become notices.
func Read(fsys fs.FS, dir string) ([]File, []Notice, error) {
	folder, err := migrationfiles.Read(fsys, dir)
	if err != nil {
		e := &Error{
			Pos: token.Position{Filename: dir}, Code: CodeUnreadable, cause: err,
			Msg: "the migrations directory cannot be read: " + sitepath.Reason(err),
			Fix: `check "bindings.database.migrations" in the manifest`,
		}
		if errors.Is(err, fs.ErrNotExist) {
			e.Msg = "the migrations directory does not exist"
			e.Fix = `create it, or correct "bindings.database.migrations" in the manifest`
		}
		return nil, nil, e
	}
	var notices []Notice
	var errs Errors
	for _, f := range folder.Findings {
		pos, code := token.Position{Filename: f.Path, Line: f.Line, Column: f.Column}, cmp.Or(folderCodes[f.Code], CodeNameInvalid)
		if f.Severity == diagnostic.Error {
			errs = append(errs, &Error{Pos: pos, Code: code, Msg: f.Msg, Fix: f.Fix})
		} else {
			notices = append(notices, Notice{Name: path.Base(f.Path), Pos: pos, Code: code, Msg: f.Msg + "; " + f.Fix})
		}
	}
	if len(errs) > 0 {
		return nil, notices, errs.orNil()
	}
	files := make([]File, len(folder.Files))
	for i, f := range folder.Files {
		files[i] = File{Name: f.Name, Path: f.Path, SQL: f.Text}
		if n, found := files[i].downSection(); found {
			notices = append(notices, n)
		}
	}
	return files, notices, nil
}

// folderCodes are this package's codes for the findings of package migrationfiles. The others are about a name:
// CodeNameInvalid.
var folderCodes = map[string]string{
	diagnostic.CodeMigrationDown:     CodeDown,
	diagnostic.CodeMigrationIgnored:  CodeIgnored,
	diagnostic.CodeMigrationNone:     CodeEmpty,
	diagnostic.CodeMigrationNumber:   CodeNumberDuplicate,
	diagnostic.CodeMigrationOrder:    CodeOrderAmbiguous,
	diagnostic.CodeMigrationText:     CodeNotText,
	diagnostic.CodeMigrationTooLarge: CodeTooLarge,
	diagnostic.CodeNameCollision:     CodeNameCollision,
	diagnostic.CodePathUnreadable:    CodeUnreadable,
}

// OfFolder reports whether a notice is about the folder of the migrations: `pages validate` and a build give the same warning.
func (n Notice) OfFolder() bool {
	switch n.Code {
	case CodeDown, CodeIgnored, CodeEmpty, CodeNumberDuplicate, CodeOrderAmbiguous:
		return true
	}
	return false
}

func notice(f File, code, msg string) Notice {
	return Notice{Name: f.Name, Pos: token.Position{Filename: f.path()}, Code: code, Msg: msg}
}

func (f File) tooLarge() *Error {
	return f.errorWhole(CodeTooLarge, fmt.Sprintf("the migration is larger than %d bytes", MaxFileSize),
		"split it into several files")
}

// timestampWidth is the number of digits of a time: year to second, as Supabase and Rails write it.
const timestampWidth = 14

// NextName returns the base name of a new migration with the title what. It sorts after all others: it continues the folder's numbers, in
// their width and with their separator, or its times or days. An empty or missing folder begins with 0001. The name has what in lower case,
// with "_" for all but letters and digits.
func NextName(fsys fs.FS, dir, what string, now time.Time) (string, error) {
	files, _, err := Read(fsys, dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	slug, err := slugOf(what)
	if err != nil {
		return "", err
	}
	last, lastName := "", ""
	for _, f := range files {
		lastName = f.Name
		if d := migrationfiles.Number(f.Name); d != "" {
			last = d
		}
	}
	if last == "" && lastName != "" && !migrationfiles.IsDated(lastName) {
		return "", refuse(CodeNumbering, fmt.Sprintf("the migrations, such as %q, have no numbers to continue", lastName),
			"give the file a name that sorts after them")
	}
	number, between := "0001", "_"
	switch {
	case migrationfiles.IsDated(lastName):
		number = now.UTC().Format("2006-01-02-150405")
	case len(last) == timestampWidth:
		number = max(now.UTC().Format("20060102150405"), increment(last))
	case last != "":
		number = increment(last)
	}
	if rest := strings.TrimPrefix(lastName, last); last != "" && strings.HasPrefix(rest, "-") {
		between = "-"
	}
	name := number + between + slug + ".sql"
	if len(name) > maxNameLength {
		return "", refuse(CodeNameInvalid, fmt.Sprintf("the name %q has %d bytes, over %d", name, len(name), maxNameLength),
			"choose a shorter one")
	}
	if name <= lastName {
		return "", refuse(CodeNumbering,
			fmt.Sprintf("the next name would be %q, which sorts before %q; no number sorts after that", name, lastName),
			"pad the numbers of all files to one width; in databases that have them, update the names with pages migrate "+
				"repair --forget OLD --record NEW")
	}
	return name, nil
}

func increment(digits string) string {
	n, _ := new(big.Int).SetString(digits, 10) // never fails
	next := n.Add(n, big.NewInt(1)).String()
	return strings.Repeat("0", max(len(digits)-len(next), 0)) + next
}

func slugOf(what string) (string, error) {
	var out strings.Builder
	for _, r := range strings.TrimSuffix(what, ".sql") {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			out.WriteRune(unicode.ToLower(r))
		case unicode.IsMark(r):
			out.WriteRune(r)
		case out.Len() > 0 && !strings.HasSuffix(out.String(), "_"):
			out.WriteByte('_')
		}
	}
	slug := strings.TrimSuffix(out.String(), "_")
	if slug == "" {
		return "", refuse(CodeNameInvalid, fmt.Sprintf("%q has no letter or digit for a name", what),
			"describe it in a word or two, such as add_tags")
	}
	return slug, nil
}
