package migrationfiles

import (
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// This file looks at the folders below that of the migrations. The platform applies the files of one folder, by their names
// (platform document, section 2.9). Prisma, and drizzle-kit since version 1, keep each migration as NAME/migration.sql.

// nestedName is the name of such a migration in its folder.
const nestedName = "migration.sql"

// judgeFolders warns of scripts in folders below dir, which is folderPath in the file tree; names are the migrations of dir
// itself. When dir has none and other tools would apply those below, it is an error, because the platform would apply
// nothing.
func judgeFolders(fsys fs.FS, dir, folderPath string, below []fs.DirEntry, names []string) (found []Finding) {
	if folderPath == "." {
		return nil
	}
	var nested []string
	for _, e := range below {
		if !e.IsDir() || hidden(e.Name()) || resembles(e.Name()) {
			continue
		}
		inside := path.Join(folderPath, e.Name())
		if info, err := fs.Stat(fsys, path.Join(inside, nestedName)); err == nil && info.Mode().IsRegular() {
			if !slices.Contains(names, e.Name()+Extension) { // otherwise it was copied
				nested = append(nested, e.Name())
			}
		} else if script := FirstScript(fsys, inside); script != "" {
			found = append(found, warn(path.Join(dir, e.Name()), diagnostic.CodeMigrationIgnored,
				fmt.Sprintf("%s is not a migration: files in folders below %s are not applied",
					sourcetext.Quote(path.Join(e.Name(), path.Base(script))), sourcetext.Quote(dir)),
				"move it up to "+sourcetext.Quote(dir)))
		}
	}
	if len(nested) == 0 {
		return found
	}
	which := sourcetext.Quote(path.Join(nested[0], nestedName)) + " is not applied"
	if n := len(nested) - 1; n > 0 {
		which = fmt.Sprintf("%s and %d more like it are not applied", sourcetext.Quote(path.Join(nested[0], nestedName)), n)
	}
	all := Finding{
		Severity: diagnostic.Warning, Code: diagnostic.CodeMigrationIgnored, Path: dir,
		Msg: fmt.Sprintf("%s: the platform applies only the .sql files directly in %s", which, sourcetext.Quote(dir)),
		Fix: fmt.Sprintf("copy each there under the name of its folder, and repeat that for each new one: "+
			`for f in %s/*/%s; do cp "$f" "${f%%/*}.sql"; done`, shellWord(dir), nestedName),
	}
	if len(names) == 0 {
		all.Severity = diagnostic.Error
	}
	return append(found, all)
}

// shellWord quotes a path for a POSIX shell if necessary.
func shellWord(s string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_-./", r)
	}
	if strings.IndexFunc(s, func(r rune) bool { return !plain(r) }) < 0 && !strings.HasPrefix(s, "-") {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
