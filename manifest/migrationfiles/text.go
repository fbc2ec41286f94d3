package migrationfiles

import (
	"bytes"
	"fmt"
	"path"
	"unicode/utf8"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// CheckText refuses bytes that SQLite would misread, or another program would read in another way: SQLite stops at a NUL as if
// the file ended there. file is the path of the migration.
func CheckText(file string, text []byte) (Finding, bool) {
	const fix = "save it as UTF-8 text"
	nul := bytes.IndexByte(text, 0)
	if nul < 0 && utf8.Valid(text) {
		return Finding{}, false
	}
	quoted := sourcetext.Quote(path.Base(file))
	if isUTF16(text) {
		f := refuse(file, diagnostic.CodeMigrationText, quoted+" is UTF-16, not UTF-8",
			fix+"; in PowerShell, pipe to Out-File -Encoding utf8 instead of >")
		f.Line, f.Column = 1, 1
		return f, true
	}
	at, what := nul, "has a NUL byte"
	for i := 0; at < 0; { // the first byte that is not UTF-8
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			at, what = i, fmt.Sprintf("has the byte 0x%02x, which is not UTF-8", text[i])
		}
		i += n
	}
	f := refuse(file, diagnostic.CodeMigrationText, quoted+" "+what, fix)
	f.Line, f.Column = sourcetext.NewLines(string(text[:at])).At(at)
	return f, true
}

// isUTF16 reports whether a text is UTF-16, in which Windows PowerShell writes the output of ">": it has a byte order mark, or
// begins with letters that have a NUL each.
func isUTF16(text []byte) bool {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return true
	}
	return len(text) >= 4 && (text[0] == 0 && text[2] == 0 && text[1] != 0 && text[3] != 0 ||
		text[1] == 0 && text[3] == 0 && text[0] != 0 && text[2] != 0)
}
