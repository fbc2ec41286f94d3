package sqlshell

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"github.com/pages-toolchain/pages/migrate/statefolder"
)

// history is what was typed before, oldest first, and the file it is kept in.
type history struct {
	file  string
	lines []string
}

const maxHistory = 1000

func (s *Shell) readHistory() *history {
	h := &history{file: filepath.Join(s.db.State.Dir, statefolder.HistoryFile)}
	text, _ := os.ReadFile(h.file) // without one there is no past
	for line := range strings.Lines(string(text)) {
		h.Add(strings.TrimRight(line, "\r\n"))
	}
	return h
}

// Add implements term.History.
func (h *history) Add(line string) {
	if strings.TrimSpace(line) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if len(h.lines) > maxHistory {
		h.lines = h.lines[len(h.lines)-maxHistory:]
	}
}

// Len implements term.History.
func (h *history) Len() int { return len(h.lines) }

// At implements term.History: 0 is the newest.
func (h *history) At(i int) string { return h.lines[len(h.lines)-1-i] }

// save appends a line to the file, or writes it anew where it has grown too long.
func (h *history) save(line string) error {
	f, err := os.OpenFile(h.file, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	info, statErr := f.Stat()
	err = errors.Join(err, statErr, f.Close())
	if err == nil && info.Size() > 1<<20 {
		err = os.WriteFile(h.file, []byte(strings.Join(h.lines, "\n")+"\n"), 0o600)
	}
	return err
}
