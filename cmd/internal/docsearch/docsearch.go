// Package docsearch finds the pages of help that answer a question, without a network.
//
// Input: the pages of the program, and the question of a person. Output: the best pages, each with its best passage, and the words of the
// question that no page has. Search builds an index of SQLite's fts5 in memory for each question; the index of all pages takes some tens of
// milliseconds. Errors are those of SQLite. Search is safe for concurrent use. The package knows no command.
package docsearch

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	_ "modernc.org/sqlite" // the database "sqlite"

	"github.com/pages-toolchain/pages/cmd/internal/wording"
)

// Page is a page of help.
type Page struct {
	Title    string // "pages db query", or the name of a topic
	About    string // its purpose in a line
	Command  string // the command that shows it
	Passages []Passage
}

// Passage is a part of a page: a paragraph, a flag, the examples.
type Passage struct {
	Text   string
	Weight float64 // multiplies the score; 1 for prose
}

// Answer is the result of a search, and the output of `pages docs --json`.
type Answer struct {
	Question  string       `json:"question"`
	Results   []Result     `json:"results"`   // the best first
	Corrected []Correction `json:"corrected"` // mistyped words of the question
	Unknown   []Unknown    `json:"unknown"`   // words of the question that no page has
}

// Result is a page that fits a question.
type Result struct {
	Title   string `json:"title"`
	About   string `json:"about"`
	Command string `json:"command"` // shows the whole page
	Passage string `json:"passage"` // of the page, the one that fits best
}

// Correction is a word that no page has, with the word that the search used instead.
type Correction struct {
	Word string `json:"word"`
	Used string `json:"used"`
}

// Unknown is a word that no page has.
type Unknown struct {
	Word string `json:"word"`
	Near string `json:"near"` // the word of a page that looks most like it; empty for none
}

// ignored are the words of questions that say nothing about their subject.
var ignored = strings.Fields("a about all an and any are as at be by can cannot do does for from get have how i if in into is it " +
	"its me my need not of on or our pages should so that the their them there this to use using want we " +
	"what when where which who why will with you your")

// maxWords bounds the words of a question that count.
const maxWords = 24

// Search returns at most limit pages that answer a question.
func Search(ctx context.Context, pages []Page, question string, limit int) (a Answer, err error) {
	a = Answer{Question: question, Results: []Result{}, Corrected: []Correction{}, Unknown: []Unknown{}}
	x, err := newIndex(ctx, pages)
	if err != nil {
		return a, err
	}
	defer func() { err = errors.Join(err, x.db.Close()) }()
	asked := termsOf(question)
	scores := make([]float64, len(x.passages))     // of each passage
	covered := make([]map[string]bool, len(pages)) // words of the question in each page
	for _, word := range asked {
		hits, err := x.find(ctx, word)
		if err == nil && len(hits) == 0 {
			near := wording.Nearest(word, x.words())
			if !isTypo(word, near) {
				a.Unknown = append(a.Unknown, Unknown{word, near})
				continue
			}
			a.Corrected = append(a.Corrected, Correction{word, near})
			hits, err = x.find(ctx, near)
		}
		if err != nil {
			return a, err
		}
		for passage, score := range hits {
			scores[passage] += score * x.passages[passage].Weight
			page := x.passages[passage].page
			if covered[page] == nil {
				covered[page] = map[string]bool{}
			}
			covered[page][word] = true
		}
	}
	a.Results = x.best(pages, scores, covered, limit)
	return a, nil
}

// isTypo reports whether a word without a match is so much like another that the search uses that one.
func isTypo(word, near string) bool {
	const long = 5
	return near != "" && utf8.RuneCountInString(word) >= long && word[0] == near[0]
}

// termsOf returns the words of a question that count, each once.
func termsOf(question string) (terms []string) {
	words := wordsOf(question)
	for _, word := range words {
		if !slices.Contains(ignored, word) && !slices.Contains(terms, word) {
			terms = append(terms, word)
		}
	}
	if len(terms) == 0 {
		terms = slices.Compact(words)
	}
	return terms[:min(len(terms), maxWords)]
}

// wordsOf splits a text as the index does.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// index is the index of all passages.
type index struct {
	db       *sql.DB
	passages []passage
}

// passage is a row of the index.
type passage struct {
	Passage

	page int // its place in the list
}

// newIndex makes an index.
func newIndex(ctx context.Context, pages []Page) (x *index, err error) {
	db, err := sql.Open("sqlite", "file::memory:")
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(1) // each connection has a memory of its own
	defer func() {
		if err != nil {
			err = errors.Join(err, db.Close())
		}
	}()
	x = &index{db: db}
	const table = "CREATE VIRTUAL TABLE passages USING fts5(title, about, text, content='', tokenize='porter unicode61')"
	if _, err := db.ExecContext(ctx, table); err != nil {
		return nil, err
	}
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return nil, err
	}
	defer func() { _ = tx.Rollback() }() // without effect after the commit
	insert, err := tx.PrepareContext(ctx, "INSERT INTO passages (rowid, title, about, text) VALUES (?, ?, ?, ?)")
	if err != nil {
		return nil, err
	}
	defer insert.Close()
	for i, page := range pages {
		for _, p := range page.Passages {
			x.passages = append(x.passages, passage{p, i})
			if _, err := insert.ExecContext(ctx, len(x.passages), page.Title, page.About, p.Text); err != nil {
				return nil, err
			}
		}
	}
	return x, tx.Commit()
}

// find returns the scores of the passages that have a word, in another form too, or a word that begins with it.
func (x *index) find(ctx context.Context, word string) (map[int]float64, error) {
	const partial = 0.4 // the score of a beginning
	hits := map[int]float64{}
	for _, try := range []struct {
		match  string
		weight float64
	}{{`"` + word + `"`, 1}, {`"` + word + `" *`, partial}} {
		if try.weight < 1 && utf8.RuneCountInString(word) < 3 {
			continue
		}
		found, err := x.match(ctx, try.match)
		if err != nil {
			return nil, err
		}
		for passage, score := range found {
			hits[passage] = max(hits[passage], score*try.weight)
		}
	}
	return hits, nil
}

// match returns the scores of the passages that match an expression of fts5.
func (x *index) match(ctx context.Context, expression string) (hits map[int]float64, err error) {
	rows, err := x.db.QueryContext(ctx, "SELECT rowid, -bm25(passages, 4, 2, 1) FROM passages WHERE passages MATCH ?", expression)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	hits = map[int]float64{}
	for rows.Next() {
		var id int
		var score float64
		if err := rows.Scan(&id, &score); err != nil {
			return nil, err
		}
		hits[id-1] = score
	}
	return hits, rows.Err()
}

// words returns the words of all pages.
func (x *index) words() []string {
	known := map[string]bool{}
	for _, p := range x.passages {
		for _, word := range wordsOf(p.Text) {
			known[word] = true
		}
	}
	return slices.Sorted(maps.Keys(known))
}

// best returns the best pages. A page with more words of the question comes before one that repeats a single word.
func (x *index) best(pages []Page, scores []float64, covered []map[string]bool, limit int) []Result {
	type candidate struct {
		page, passage int
		score         float64
	}
	byPage := map[int]*candidate{}
	for i, score := range scores {
		if score <= 0 {
			continue
		}
		page := x.passages[i].page
		if c := byPage[page]; c == nil || score > c.score {
			byPage[page] = &candidate{page, i, score}
		}
	}
	list := slices.Collect(maps.Values(byPage))
	for _, c := range list {
		c.score *= float64(len(covered[c.page]))
	}
	slices.SortFunc(list, func(a, b *candidate) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.page, b.page)) })
	results := []Result{}
	for _, c := range list[:min(len(list), limit)] {
		page := pages[c.page]
		results = append(results, Result{page.Title, page.About, page.Command, x.passages[c.passage].Text})
	}
	return results
}
