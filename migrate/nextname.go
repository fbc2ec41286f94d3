package migrate

import (
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"strings"
	"time"
	"unicode"
)

// timestampWidth is how many digits make a number a time: year to second, as Supabase and Rails write it.
const timestampWidth = 14

// NextName gives the base name of a new migration called what, which sorts behind all there are: it goes on with the
// folder's numbers, in their width and with what they have between number and name, or with times or days where it has
// those.
// An empty or missing folder begins with 0001. what becomes lower case, with "_" for all but letters and digits.
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
		return "", &Error{
			Code: CodeNumbering,
			Msg:  fmt.Sprintf("the migrations, such as %q, have no numbers to go on with", lastName),
			Fix:  "create the file under a name that sorts behind them",
		}
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
		return "", &Error{
			Code: CodeNameInvalid,
			Msg:  fmt.Sprintf("the name %q has %d bytes, over %d", name, len(name), maxNameLength),
			Fix:  "choose a shorter one",
		}
	}
	if name <= lastName {
		return "", &Error{
			Code: CodeNumbering,
			Msg:  fmt.Sprintf("the next name would be %q, which sorts before %q, and no number sorts behind it", name, lastName),
			Fix: "pad the numbers of all files to one width; where they are applied, say so with pages migrate " +
				"repair --forget OLD --record NEW",
		}
	}
	return name, nil
}

// increment is the next number in the width of digits, or one wider.
func increment(digits string) string {
	n, _ := new(big.Int).SetString(digits, 10) // digits are
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
		return "", &Error{
			Code: CodeNameInvalid, Msg: fmt.Sprintf("%q has no letter or digit to make a name of", what),
			Fix: "say in a word or two what it does, such as add_tags",
		}
	}
	return slug, nil
}
