package publish

import (
	"fmt"
	"time"

	"github.com/pages-toolchain/pages/cmd/internal/terminal"
	"github.com/pages-toolchain/pages/cmd/internal/wording"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

const (
	sendingEvery = 200 * time.Millisecond
	// Without a terminal, a line is printed for every tenth, or after this long.
	sendingLine = 10 * time.Second
)

// showSending shows the progress of an upload: on a terminal in one line that changes, elsewhere in lines. stop ends it.
func showSending(t *terminal.Terminal, p *deploy.Progress) (stop func()) {
	if t.Quiet || t.JSON {
		return func() {}
	}
	w := &sendingProgress{term: t, p: p, began: t.Now(), line: t.Now(), tty: terminal.IsTerminal(t.Stderr)}
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		ticker := time.NewTicker(sendingEvery)
		defer ticker.Stop()
		for {
			select {
			case <-ended:
				if w.shown {
					fmt.Fprint(t.Stderr, "\r\x1b[K")
				}
				return
			case <-ticker.C:
				w.show()
			}
		}
	}()
	return func() { close(ended); <-done }
}

type sendingProgress struct {
	term  *terminal.Terminal
	p     *deploy.Progress
	began time.Time
	line  time.Time // when the last line was printed
	tenth int64
	tty   bool
	shown bool // on a terminal
}

func (w *sendingProgress) show() {
	total, sent := w.p.Bytes.Load(), w.p.BytesSent.Load()
	if w.p.Blobs.Load() == 0 || total == 0 {
		return
	}
	now := w.term.Now()
	if w.tty {
		w.shown = true
		fmt.Fprintf(w.term.Stderr, "\r%s\x1b[K", w.text(now, sent, total))
		return
	}
	if tenth := sent * 10 / total; tenth > w.tenth && tenth < 10 || now.Sub(w.line) >= sendingLine {
		w.tenth, w.line = tenth, now
		fmt.Fprintln(w.term.Stderr, w.text(now, sent, total))
	}
}

func (w *sendingProgress) text(now time.Time, sent, total int64) string {
	text := fmt.Sprintf("sending: %d of %s, %s of %s",
		w.p.BlobsStored.Load(), wording.Count(int(w.p.Blobs.Load()), "file"), wording.Size(sent), wording.Size(total))
	took := now.Sub(w.began).Seconds()
	if took < 1 || sent == 0 {
		return text
	}
	rate := float64(sent) / took
	left := time.Duration(float64(total-sent) / rate * float64(time.Second)).Round(time.Second)
	return fmt.Sprintf("%s, %s/s, %v left", text, wording.Size(int64(rate)), left)
}
