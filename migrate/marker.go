package migrate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/migrate/sqltext"
)

// downMarkers are the comments that begin the down part of a migration in other tools: goose, sql-migrate, dbmate, and tools
// modelled on node-sqlite and node-pg-migrate.
var downMarkers = []string{"+goose down", "+migrate down", "migrate:down", "down", "down migration"}

// downSection returns a notice about a down part, which would run like the rest; false without one, or for an empty one.
func (f File) downSection() (Notice, bool) {
	if !bytes.Contains(bytes.ToLower(f.SQL), []byte("down")) {
		return Notice{}, false
	}
	marker := -1
	for pos := 0; pos < len(f.SQL); {
		t := sqltext.Next(f.SQL, pos)
		pos = t.End
		switch {
		case t.Kind == sqltext.Open:
			return Notice{}, false
		case t.Kind != sqltext.Space && t.Kind != sqltext.Semicolon && marker >= 0:
			at := position(f.path(), f.SQL, marker)
			line, _, _ := strings.Cut(string(f.SQL[marker:]), "\n")
			return Notice{
				Name: f.Name, Pos: at, Code: CodeDownSection,
				Msg: fmt.Sprintf("the statements below %q run like any other, and undo those above: remove them, and go back "+
					"with pages migrate undo", strings.TrimSpace(line)),
			}, true
		case marker < 0 && f.SQL[t.Start] == '-' && isDownMarker(string(f.SQL[t.Start:t.End])):
			marker = t.Start
		}
	}
	return Notice{}, false
}

func isDownMarker(comment string) bool {
	words := strings.Fields(strings.ToLower(strings.TrimLeft(comment, "-")))
	return slices.ContainsFunc(downMarkers, func(marker string) bool {
		n := len(strings.Fields(marker))
		// "down" alone may begin a sentence.
		return len(words) == n && strings.Join(words, " ") == marker ||
			len(words) > n && strings.Join(words[:n], " ") == marker && strings.ContainsAny(marker, "+:")
	})
}
