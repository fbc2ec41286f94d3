package migrate

import "strings"

// rowLimitFix writes DELETE and UPDATE with ORDER BY or LIMIT, which SQLite has only where it is built with them and D1 takes,
// as a statement that SQLite always takes; "" for another statement, and for a long one.
func rowLimitFix(statement []byte) string {
	const longest = 4096
	if len(statement) > longest {
		return ""
	}
	var words []string // with what is between parentheses in one
	depth := 0
	for pos := 0; pos < len(statement); {
		t := nextToken(statement, pos)
		pos = t.end
		text := string(statement[t.start:t.end])
		switch {
		case t.kind == tokenSpace || t.kind == tokenSemicolon:
		case depth > 0:
			words[len(words)-1] += " " + text
		default:
			words = append(words, text)
		}
		switch text {
		case "(":
			depth++
		case ")":
			depth--
		}
	}
	at := func(word string) int {
		for i, w := range words {
			if strings.EqualFold(w, word) {
				return i
			}
		}
		return len(words)
	}
	join := func(from, to int) string { return strings.Join(words[min(from, to):to], " ") }
	if len(words) < 3 {
		return ""
	}
	begin := 1 // of the table's name
	switch {
	case strings.EqualFold(words[0], "DELETE"):
		begin = 2
	case !strings.EqualFold(words[0], "UPDATE"):
		return ""
	case strings.EqualFold(words[1], "OR"):
		begin = 3
	}
	table := begin + 1
	for table+1 < len(words) && words[table] == "." {
		table += 2
	}
	where, returning := at("WHERE"), at("RETURNING")
	rows := min(at("ORDER"), at("LIMIT"))
	if rows == len(words) || begin >= len(words) {
		return ""
	}
	condition := join(where, min(returning, rows))
	back := ""
	if returning < len(words) {
		end := len(words)
		if rows > returning {
			end = rows
		}
		back = " " + join(returning, end)
	}
	last := len(words)
	if returning > rows {
		last = returning
	}
	name := strings.ReplaceAll(join(begin, table), " . ", ".")
	pick := strings.Join(strings.Fields("SELECT rowid FROM "+name+" "+condition+" "+join(rows, last)), " ")
	form := join(0, min(where, rows, returning)) + " WHERE rowid IN (" + pick + ")" + back
	if len(form) > maxStatementShown {
		form = "… WHERE rowid IN (SELECT rowid FROM " + name + " … LIMIT …)"
	}
	return "write " + form + ": SQLite is built without this form here"
}
