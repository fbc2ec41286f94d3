package migrate

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// downMarkers are the comments with which other tools begin the part of a file that takes a migration back: goose, sql-migrate,
// dbmate, and those after node-sqlite and node-pg-migrate.
var downMarkers = []string{"+goose down", "+migrate down", "migrate:down", "down", "down migration"}

// downSection returns a notice about such a part, which runs as any other; false when there is none, or nothing in it.
func (f File) downSection() (Notice, bool) {
	if !bytes.Contains(bytes.ToLower(f.SQL), []byte("down")) {
		return Notice{}, false
	}
	marker := -1
	for pos := 0; pos < len(f.SQL); {
		t := nextToken(f.SQL, pos)
		pos = t.end
		switch {
		case t.kind == tokenOpen:
			return Notice{}, false
		case t.kind != tokenSpace && t.kind != tokenSemicolon && marker >= 0:
			at := position(f.path(), f.SQL, marker)
			line, _, _ := strings.Cut(string(f.SQL[marker:]), "\n")
			return Notice{
				Name: f.Name, Pos: at, Code: CodeDownSection,
				Msg: fmt.Sprintf("the statements below %q run as any other, and take back those above: remove them, and go back "+
					"with pages migrate undo", strings.TrimSpace(line)),
			}, true
		case marker < 0 && f.SQL[t.start] == '-' && isDownMarker(string(f.SQL[t.start:t.end])):
			marker = t.start
		}
	}
	return Notice{}, false
}

func isDownMarker(comment string) bool {
	words := strings.Fields(strings.ToLower(strings.TrimLeft(comment, "-")))
	return slices.ContainsFunc(downMarkers, func(marker string) bool {
		n := len(strings.Fields(marker))
		// A sentence may begin with "down" alone.
		return len(words) == n && strings.Join(words, " ") == marker ||
			len(words) > n && strings.Join(words[:n], " ") == marker && strings.ContainsAny(marker, "+:")
	})
}
