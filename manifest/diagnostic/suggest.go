package diagnostic

// Nearest returns the candidate nearest to a word, or "" when none is near: the allowed distance grows with the word, from
// one edit up to three. Case, "-" and "_" do not count.
func Nearest(word string, candidates []string) string {
	const shortest = 3 // one edit changes half of a word with two letters
	folded := fold(word)
	best, bestDistance := "", min(1+len(folded)/4, 3)+1
	for _, c := range candidates {
		other := fold(c)
		d := distance(folded, other, bestDistance)
		if d < bestDistance && (d == 0 || min(len(folded), len(other)) >= shortest) {
			best, bestDistance = c, d
		}
	}
	return best
}

// fold drops case and separators, so that "compatibility_flags" is near "compatibilityFlags".
func fold(s string) string {
	b := make([]byte, 0, len(s))
	for i := range len(s) {
		switch c := s[i]; {
		case c >= 'A' && c <= 'Z':
			b = append(b, c+'a'-'A')
		case c != '_' && c != '-':
			b = append(b, c)
		}
	}
	return string(b)
}

// distance counts the insertions, deletions, substitutions and swaps of neighbours that turn a into b. It
// returns limit early when the lengths alone are that far apart.
func distance(a, b string, limit int) int {
	if len(a)-len(b) >= limit || len(b)-len(a) >= limit {
		return limit
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		last[j] = j
	}
	for i := 1; i <= len(a); i++ {
		row[0] = i
		for j := 1; j <= len(b); j++ {
			cost := 1
			if a[i-1] == b[j-1] {
				cost = 0
			}
			row[j] = min(last[j]+1, row[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && a[i-1] == b[j-2] && a[i-2] == b[j-1] {
				row[j] = min(row[j], before[j-2]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// DidYouMean is the fix for a word that is near another.
func DidYouMean(word string, candidates []string) string {
	if near := Nearest(word, candidates); near != "" {
		return `did you mean "` + near + `"?`
	}
	return ""
}
