package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"
)

// reason is the reason why some tests fail.
type reason struct {
	text     string
	patterns []string
	count    int
}

// list is the reasons of a file. A line that begins with "# " is a reason; the lines below it are its tests: a file of the
// suite, a folder with a slash at its end, or a prefix of the path and a star. The first matching line counts. Text before
// the first reason is ignored.
type list struct {
	reasons []*reason
	exact   map[string]*reason
	passed  map[string]bool // patterns for which no test has failed
}

func readList(file string) (*list, error) {
	opened, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer opened.Close()
	l := &list{exact: map[string]*reason{}, passed: map[string]bool{}}
	lines := bufio.NewScanner(opened)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if text, ok := strings.CutPrefix(line, "# "); ok {
			l.reasons = append(l.reasons, &reason{text: text})
			continue
		}
		if line == "" || len(l.reasons) == 0 {
			continue
		}
		last := l.reasons[len(l.reasons)-1]
		if !strings.HasPrefix(line, "test/") {
			return nil, fmt.Errorf("%s: %q is neither a reason (\"# …\") nor a test (\"test/…\")", file, line)
		}
		if l.passed[line] {
			return nil, fmt.Errorf("%s: %s is listed twice", file, line)
		}
		l.passed[line] = true
		if strings.HasSuffix(line, "/") || strings.HasSuffix(line, "*") {
			last.patterns = append(last.patterns, line)
		} else {
			l.exact[line] = last
		}
	}
	return l, lines.Err()
}

// of is the reason for which a test fails, or nil, and the line that names it.
func (l *list) of(path string) (*reason, string) {
	if r, ok := l.exact[path]; ok {
		return r, path
	}
	for _, r := range l.reasons {
		for _, pattern := range r.patterns {
			if strings.HasPrefix(path, strings.TrimSuffix(pattern, "*")) {
				return r, pattern
			}
		}
	}
	return nil, ""
}

// report prints the results of the tests, and reports whether the list agrees with them.
func (l *list) report(w io.Writer, outcomes []outcome) bool {
	asListed := true
	ran := map[string]bool{}
	failed := 0
	for _, result := range outcomes {
		r, line := l.of(result.path)
		ran[line] = true
		if len(result.failed) == 0 {
			continue
		}
		failed++
		if r == nil {
			asListed = false
			fmt.Fprintf(w, "fails and is not listed: %s (%s): %v\n", result.path, result.failed[0].mode, result.failed[0].err)
			continue
		}
		r.count++
		delete(l.passed, line)
	}
	for line := range l.passed {
		if ran[line] {
			asListed = false
			fmt.Fprintf(w, "is listed and passes: %s\n", line)
		}
	}
	for _, r := range l.reasons {
		if r.count > 0 {
			fmt.Fprintf(w, "%6d  %s\n", r.count, r.text)
		}
	}
	fmt.Fprintf(w, "%d of %d tests pass\n", len(outcomes)-failed, len(outcomes))
	return asListed
}
