package devbackground

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/migrate/statefolder"
)

const (
	// maxLog bounds the file with the output of a server. A longer one loses its oldest lines, down to keptLog bytes.
	maxLog  = 1 << 20
	keptLog = maxLog / 2
)

// Log is the file with the output of a server in the background. It is safe for concurrent use.
type Log struct {
	mu   sync.Mutex
	file *os.File
	size int64
}

// OpenLog opens the log of a state, which Start has made.
func OpenLog(s *localstate.State) (*Log, error) {
	file, err := os.OpenFile(filepath.Join(s.Dir, statefolder.DevLogFile), os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, s.WriteError(err)
	}
	info, err := file.Stat()
	if err != nil {
		return nil, errors.Join(s.WriteError(err), file.Close())
	}
	return &Log{file: file, size: info.Size()}, nil
}

// Write implements io.Writer. It keeps the file within its bound.
func (l *Log) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.size+int64(len(p)) > maxLog {
		if err := l.shorten(); err != nil {
			return 0, err
		}
	}
	n, err := l.file.Write(p)
	l.size += int64(n)
	return n, err
}

// shorten removes the oldest lines.
func (l *Log) shorten() error {
	info, err := l.file.Stat() // a second start may have emptied it
	if err != nil {
		return err
	}
	kept := make([]byte, min(info.Size(), keptLog))
	n, err := l.file.ReadAt(kept, info.Size()-int64(len(kept)))
	if n < len(kept) {
		return err
	}
	if i := bytes.IndexByte(kept, '\n'); i >= 0 {
		kept = kept[i+1:]
	}
	if err := os.Truncate(l.file.Name(), 0); err != nil { // Windows cannot shorten a file that is open to append
		return err
	}
	n, err = l.file.Write(kept)
	l.size = int64(n)
	return err
}

// Close closes the file.
func (l *Log) Close() error { return l.file.Close() }

// Lines returns the last n lines of the output of the server that ran last in the background; none if none ran.
func Lines(s *localstate.State, n int) ([]string, error) {
	text, err := userfile.ReadRegular(filepath.Join(s.Dir, statefolder.DevLogFile))
	if errors.Is(err, fs.ErrNotExist) {
		return []string{}, nil
	}
	if err != nil {
		return nil, s.WriteError(err)
	}
	lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
	if len(text) == 0 {
		lines = []string{}
	}
	return lines[max(0, len(lines)-n):], nil
}
