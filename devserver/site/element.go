package site

import (
	"errors"
	"io"
	"net/http"
	"strconv"
)

// ElementWriter is the response of one navigation. It adds an element to the end of a document.
type ElementWriter struct {
	http.ResponseWriter
	Head bool // the method is HEAD
	// Element returns the element in ASCII. It may change the header, which was not sent yet.
	Element func(h http.Header) string

	plain   bool
	begun   bool
	held    int // the status, until the first byte shows whether the document takes the element; 0 for none
	element string
	length  int64 // the site's Content-Length, -1 for none
	sent    int64
}

// KeepAsIs makes the document pass without an element. Call it before the header.
func (w *ElementWriter) KeepAsIs() { w.plain = true }

// WriteHeader decides whether this response may get the element, and delays the header if so.
func (w *ElementWriter) WriteHeader(status int) {
	if !w.begun && status >= 200 {
		w.begun = true
		if !w.plain && takesElement(status, w.Header()) {
			w.held = status
			return
		}
	}
	w.ResponseWriter.WriteHeader(status)
}

// release sends a delayed header. first begins the body; it is empty for a body without bytes.
func (w *ElementWriter) release(first []byte) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if w.held == 0 {
		return
	}
	// A byte order mark of UTF-16 takes precedence over the Content-Type. No text in UTF-8 begins with either of its bytes.
	if len(first) == 0 || first[0] != 0xFE && first[0] != 0xFF {
		h := w.Header()
		w.element, w.length = w.Element(h), -1
		if n, err := strconv.ParseInt(h.Get("Content-Length"), 10, 64); err == nil {
			w.length = n
			h.Set("Content-Length", strconv.FormatInt(n+int64(len(w.element)), 10))
		}
		for _, name := range []string{"Content-Digest", "Repr-Digest", "Digest", "Content-MD5"} { // of other bytes
			h.Del(name)
		}
	}
	w.ResponseWriter.WriteHeader(w.held)
	w.held = 0
}

// Write implements http.ResponseWriter.
func (w *ElementWriter) Write(b []byte) (int, error) {
	switch {
	case len(b) > 0:
		w.release(b)
	case !w.begun:
		w.WriteHeader(http.StatusOK)
	}
	if w.held != 0 {
		return 0, nil
	}
	n, err := w.ResponseWriter.Write(b)
	w.sent += int64(n)
	return n, err
}

// ReadFrom lets the server send files without a copy.
func (w *ElementWriter) ReadFrom(src io.Reader) (n int64, err error) {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if w.held != 0 {
		var first [1]byte
		if _, err := io.ReadFull(src, first[:]); err != nil {
			if errors.Is(err, io.EOF) {
				err = nil
			}
			return 0, err
		}
		if _, err := w.Write(first[:]); err != nil {
			return 0, err
		}
		n = 1
	}
	rest, err := io.Copy(w.ResponseWriter, src)
	w.sent += rest
	return n + rest, err
}

// FlushError flushes the bytes written so far. A delayed header waits for the first byte.
func (w *ElementWriter) FlushError() error {
	if !w.begun {
		w.WriteHeader(http.StatusOK)
	}
	if w.held != 0 {
		return nil
	}
	return http.NewResponseController(w.ResponseWriter).Flush()
}

// Flush implements http.Flusher.
func (w *ElementWriter) Flush() { _ = w.FlushError() }

// Unwrap lets http.ResponseController reach the connection.
func (w *ElementWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// Finish adds the element to a complete body. A response to HEAD without a body gets none: its length, if known, is in the
// header already.
func (w *ElementWriter) Finish() {
	w.release(nil)
	if w.element == "" || w.length >= 0 && w.sent != w.length || w.Head && w.sent == 0 {
		return
	}
	_, _ = io.WriteString(w.ResponseWriter, w.element) // the client may be gone
}
