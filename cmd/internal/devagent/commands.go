package devagent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/cmd/internal/terminal"
)

// Commands run commands of this program for one site.
type Commands struct {
	Terminal      *terminal.Terminal
	Dir, StateDir string
	// Run runs a command on another terminal, and returns its exit code.
	Run func(ctx context.Context, args []string, t terminal.Terminal) int
}

// ErrTooLong is the error of a document over 4 MB.
var ErrTooLong = errors.New("the response is over 4 MB")

// maxDocument bounds the document of a command.
const maxDocument = 4 << 20

// Document runs a command with --json, and returns its document and its exit code.
func (c Commands) Document(ctx context.Context, stdin string, args ...string) (document []byte, code int, err error) {
	out := &boundedBuffer{limit: maxDocument}
	e := *c.Terminal
	e.Stdin, e.Stdout, e.Stderr = strings.NewReader(stdin), out, io.Discard
	e.Environ = slices.DeleteFunc(slices.Clone(e.Environ), func(variable string) bool {
		return strings.HasPrefix(variable, "PAGES_") // each sets a flag; the caller passes all its flags itself
	})
	e.Lines = false // as the command itself prints JSON
	code = c.Run(ctx, append([]string{"--json", "-C", c.Dir, "--state-dir", c.StateDir}, args...), e)
	if out.full {
		return nil, code, ErrTooLong
	}
	return out.Bytes(), code, nil
}

// boundedBuffer stores at most limit bytes.
type boundedBuffer struct {
	bytes.Buffer

	limit int
	full  bool
}

// Write implements io.Writer.
func (b *boundedBuffer) Write(p []byte) (int, error) {
	if b.full = b.full || b.Len()+len(p) > b.limit; b.full {
		return 0, ErrTooLong
	}
	return b.Buffer.Write(p)
}

// decode runs a command and decodes its document. The failure of the command is an error with its fix.
func (c Commands) decode(ctx context.Context, into any, stdin string, args ...string) error {
	document, code, err := c.Document(ctx, stdin, args...)
	if err != nil {
		return errors.New(err.Error() + ": ask for less")
	}
	if code == 0 {
		return json.Unmarshal(document, into)
	}
	var failed struct {
		Message     string `json:"message"`
		Fix         string `json:"fix"`
		Diagnostics []struct {
			Message string `json:"message"`
			Fix     string `json:"fix"`
		} `json:"diagnostics"`
	}
	if err := json.Unmarshal(document, &failed); err != nil {
		return err
	}
	texts := []string{failed.Message, failed.Fix}
	for _, d := range failed.Diagnostics {
		texts = append(texts, d.Message, d.Fix)
	}
	return errors.New(strings.Join(slices.DeleteFunc(texts, func(text string) bool { return text == "" }), "; "))
}
