package migrate

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"go/token"
	"io"
	"io/fs"
	"math/big"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"
)

const (
	// MaxFileSize bounds a migration file, in bytes.
	MaxFileSize = 10 << 20

	maxNameLength = 255 // bytes of a file name that every file system takes
)

// File is one migration: the bytes that are hashed are the bytes that run.
type File struct {
	Name string // the base name, such as "0001_posts.sql"
	Path string // in positions of errors; default Name
	SQL  []byte // the file's text as it is on disk
}

// Sum is the SHA-256 of the text in hex, without a leading byte order mark and with CRLF read as LF, so that a checkout
// with other line endings is the same migration.
func (f File) Sum() string {
	text := bytes.TrimPrefix(f.SQL, []byte(bom))
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

// Read returns the migrations of the directory dir in bytewise filename order, in which they are applied.
//
// Files that are not *.sql, hidden files and directories are left out with a notice. A .sql file under a name that some
// system cannot hold or would confuse with another, one that is a link or no plain file, and one over [MaxFileSize]
// refuse the whole directory; all such refusals are reported.
func Read(fsys fs.FS, dir string) ([]File, []Notice, error) {
	entries, err := fs.ReadDir(fsys, dir)
	if err != nil {
		e := &Error{
			Pos: token.Position{Filename: dir}, Code: CodeUnreadable, cause: err,
			Msg: "the migrations directory cannot be read: " + fileReason(err),
			Fix: `check "bindings.database.migrations" in the manifest`,
		}
		if errors.Is(err, fs.ErrNotExist) {
			e.Msg = "the migrations directory does not exist"
			e.Fix = `create it, or correct "bindings.database.migrations" in the manifest`
		}
		return nil, nil, e
	}
	var files []File
	var notices []Notice
	var errs Errors
	for _, entry := range entries {
		name := entry.Name()
		f := File{Name: name, Path: path.Join(dir, name)}
		if reason := ignoreReason(entry); reason != "" {
			notices = append(notices, notice(f, CodeIgnored, reason))
			continue
		}
		if err := f.checkEntry(entry); err != nil {
			errs = append(errs, err)
			continue
		}
		if err := f.load(fsys); err != nil {
			errs = append(errs, err)
			continue
		}
		if strings.HasSuffix(strings.ToLower(name), ".down.sql") { // other tools undo a migration with it
			notices = append(notices, notice(f, CodeDown,
				"the file is applied as any other, in the order of its name: move it out of the folder, and go "+
					"back with pages migrate undo"))
		}
		if n, found := f.downSection(); found {
			notices = append(notices, n)
		}
		files = append(files, f)
	}
	errs = append(errs, collisions(files)...)
	if len(entries) == 0 {
		notices = append(notices, notice(File{Name: dir}, CodeEmpty, "the migrations directory is empty"))
	}
	if len(errs) > 0 {
		return nil, notices, errs.orNil()
	}
	return files, append(notices, ambiguities(files)...), nil
}

func notice(f File, code, msg string) Notice {
	return Notice{Name: f.Name, Pos: token.Position{Filename: f.path()}, Code: code, Msg: msg}
}

// fileReason returns the text of an error without the path, which the position has.
func fileReason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return pe.Err.Error()
	}
	return err.Error()
}

func ignoreReason(entry fs.DirEntry) string {
	switch name := entry.Name(); {
	case strings.HasPrefix(name, "."):
		return "hidden files are not migrations"
	case entry.IsDir() && !strings.EqualFold(path.Ext(name), ".sql"):
		return "directories below the migrations directory are not read"
	case !strings.EqualFold(path.Ext(name), ".sql"):
		return `only files whose names end in ".sql" are migrations`
	}
	return ""
}

// checkEntry refuses an entry that looks like a migration and cannot be one on every system.
func (f File) checkEntry(entry fs.DirEntry) *Error {
	refuse := func(msg, fix string) *Error { return f.errorWhole(CodeNameInvalid, msg, fix) }
	quoted := strconv.QuoteToGraphic(f.Name)
	isUnportable := func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Cf) || strings.ContainsRune(`<>:"|?*\`, r)
	}
	switch {
	case entry.Type()&fs.ModeSymlink != 0:
		return refuse("a migration must not be a link", "replace the link by the file itself")
	case !entry.Type().IsRegular():
		return refuse("a migration must be a plain file", "rename or remove it")
	case path.Ext(f.Name) != ".sql":
		return refuse("the name "+quoted+` must end in ".sql" in lower case`, "rename the file")
	case len(f.Name) > maxNameLength:
		return refuse(fmt.Sprintf("the name has %d bytes, over %d", len(f.Name), maxNameLength), "rename the file")
	case !utf8.ValidString(f.Name):
		return refuse("the name "+quoted+" is not UTF-8", "rename the file")
	case strings.ContainsFunc(f.Name, isUnportable):
		return refuse("the name "+quoted+` has a character that some systems cannot store`,
			`use letters, digits, "_", "-" and "."`)
	case strings.TrimSpace(f.Name) != f.Name || strings.HasSuffix(strings.TrimSuffix(f.Name, ".sql"), " "):
		return refuse("the name "+quoted+" begins or ends with a space", "rename the file")
	}
	return nil
}

// load reads the file, as long as it was when it was opened, with as few system calls as possible: they are the time that
// a status takes.
func (f *File) load(fsys fs.FS) *Error {
	in, err := fsys.Open(f.Path)
	if err != nil {
		return f.unreadable(err)
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return f.unreadable(err)
	}
	if info.Size() > MaxFileSize {
		return f.tooLarge()
	}
	f.SQL = make([]byte, info.Size())
	n, err := io.ReadFull(in, f.SQL)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, io.EOF) {
		return f.unreadable(err)
	}
	f.SQL = f.SQL[:n]
	return nil
}

func (f File) unreadable(err error) *Error {
	e := f.errorWhole(CodeUnreadable, "the migration cannot be read: "+fileReason(err), "check the file's permissions")
	e.cause = err
	return e
}

func (f File) tooLarge() *Error {
	return f.errorWhole(CodeTooLarge, fmt.Sprintf("the migration is larger than %d bytes", MaxFileSize),
		"split it into several files")
}

// checkText refuses bytes that SQLite would misread: it stops at a NUL as if the file ended there.
func (f File) checkText() *Error {
	if isUTF16(f.SQL) {
		return f.errorAt(0, CodeNotText, "the file is UTF-16", "save it as UTF-8; in PowerShell: … | Out-File -Encoding utf8 FILE")
	}
	if i := bytes.IndexByte(f.SQL, 0); i >= 0 {
		return f.errorAt(i, CodeNotText, "the file has a NUL byte", "save it as UTF-8 text")
	}
	for i := 0; i < len(f.SQL); {
		r, n := utf8.DecodeRune(f.SQL[i:])
		if r == utf8.RuneError && n == 1 {
			return f.errorAt(i, CodeNotText, fmt.Sprintf("the byte 0x%02x is not UTF-8", f.SQL[i]), "save the file as UTF-8 text")
		}
		i += n
	}
	return nil
}

// isUTF16 reports whether a text is UTF-16, in which Windows PowerShell writes what ">" takes: it begins with a byte order
// mark, or with letters that have a NUL each.
func isUTF16(text []byte) bool {
	if bytes.HasPrefix(text, []byte{0xff, 0xfe}) || bytes.HasPrefix(text, []byte{0xfe, 0xff}) {
		return true
	}
	return len(text) >= 4 && (text[0] == 0 && text[2] == 0 && text[1] != 0 && text[3] != 0 ||
		text[1] == 0 && text[3] == 0 && text[0] != 0 && text[2] != 0)
}

// collisions refuses names that a case-insensitive or normalising file system would take for one.
func collisions(files []File) Errors {
	var errs Errors
	first := map[string]string{}
	for _, f := range files {
		key := foldName(f.Name)
		if other, ok := first[key]; ok {
			errs = append(errs, f.errorWhole(CodeNameCollision,
				fmt.Sprintf("the names %q and %q are the same on some systems", other, f.Name), "rename one of them"))
			continue
		}
		first[key] = f.Name
	}
	return errs
}

// foldName returns equal names for those that differ in case or in how a letter is composed.
func foldName(name string) string {
	if strings.IndexFunc(name, func(r rune) bool { return r >= utf8.RuneSelf }) < 0 {
		return strings.ToLower(name)
	}
	return norm.NFC.String(cases.Fold().String(norm.NFC.String(name)))
}

// ambiguities warns where other tools, which order by number, would apply the files in another order.
func ambiguities(files []File) []Notice {
	var notices []Notice
	var numbered []File
	for _, f := range files {
		if leadingDigits(f.Name) == "" {
			continue
		}
		if n := len(numbered); n > 0 && leadingNumber(numbered[n-1].Name) == leadingNumber(f.Name) {
			notices = append(notices, notice(f, CodeNumberDuplicate,
				fmt.Sprintf("%q and %q have the same number; they are applied in bytewise order", numbered[n-1].Name, f.Name)))
		}
		numbered = append(numbered, f)
	}
	byNumber := slices.Clone(numbered)
	slices.SortStableFunc(byNumber, func(a, b File) int {
		x, y := leadingNumber(a.Name), leadingNumber(b.Name)
		return cmp.Or(cmp.Compare(len(x), len(y)), cmp.Compare(x, y))
	})
	if at := slices.IndexFunc(numbered, func(f File) bool {
		return len(leadingDigits(f.Name)) != len(leadingDigits(numbered[0].Name))
	}); at > 0 {
		msg := "the numbers have different widths, and names are compared byte by byte; pad the numbers to one width"
		if !slices.EqualFunc(numbered, byNumber, func(a, b File) bool { return a.Name == b.Name }) {
			msg += fmt.Sprintf(". They are applied in the order %s; by number it would be %s", listInOrder(numbered), listInOrder(byNumber))
		}
		notices = append(notices, notice(numbered[at], CodeOrderAmbiguous, msg))
	}
	return notices
}

// listInOrder names the first files, as many as fit a sentence.
func listInOrder(files []File) string {
	const most = 6
	var names []string
	for _, f := range files[:min(len(files), most)] {
		names = append(names, f.Name)
	}
	if len(files) > most {
		names = append(names, fmt.Sprintf("and %d more", len(files)-most))
	}
	return strings.Join(names, ", ")
}

// dated matches a name that begins with a day, such as 2026-11-22, which is no number.
var dated = regexp.MustCompile(`^[0-9]{4}-[0-9]{2}-[0-9]{2}`)

// leadingDigits returns the number at the beginning of a name, as it is written.
func leadingDigits(name string) string {
	if dated.MatchString(name) {
		return ""
	}
	return name[:len(name)-len(strings.TrimLeft(name, "0123456789"))]
}

// leadingNumber is leadingDigits without padding, so that equal numbers are equal strings at any length.
func leadingNumber(name string) string { return strings.TrimLeft(leadingDigits(name), "0") }

// timestampWidth is the number of digits of a time: year to second, as Supabase and Rails write it.
const timestampWidth = 14

// NextName returns the base name of a new migration called what, which sorts behind all others: it continues the
// folder's numbers, in their width and with their separator, or its times or days. An empty or missing folder begins
// with 0001. what becomes lower case, with "_" for all but letters and digits.
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
		if d := leadingDigits(f.Name); d != "" {
			last = d
		}
	}
	if last == "" && lastName != "" && !dated.MatchString(lastName) {
		return "", refuse(CodeNumbering, fmt.Sprintf("the migrations, such as %q, have no numbers to go on with", lastName),
			"create the file under a name that sorts behind them")
	}
	number, between := "0001", "_"
	switch {
	case dated.MatchString(lastName):
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
			fmt.Sprintf("the next name would be %q, which sorts before %q, and no number sorts behind it", name, lastName),
			"pad the numbers of all files to one width; where they are applied, say so with pages migrate "+
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
		return "", refuse(CodeNameInvalid, fmt.Sprintf("%q has no letter or digit to make a name of", what),
			"say in a word or two what it does, such as add_tags")
	}
	return slug, nil
}
