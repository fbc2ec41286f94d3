package htmlrewriter

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// documents are inputs that are read in many ways.
var documents = []string{
	"", "<", "a<b", "<!doctype html><p class='x'>é &amp; <br/></p >", "<p a=1 b='2>' c=\"3\" d/>x", "</>x</ y><!x><?php?>",
	"<!----><!--x--!><!-->y<!--->z", "<script>a<b</script ><style></styl></style>", "<title>&lt;<b></title/><textarea>",
	"<script><!-- <script> </script> --> </script>x", "<script><!--></script>", "<script><!-- </script>y",
	"<svg><![CDATA[<p>]]></svg><![CDATA[x]]>",
	"<plaintext><b></plaintext>", "<p\x00\xff>\xff\xfe</p>", "<a><b></a></b><c>", strings.Repeat("<i>", 50),
	"<script><!--<script></script -->-->x",
}

// passedThrough returns the output of a rewriter without handlers for pieces.
func passedThrough(t *testing.T, pieces ...string) string {
	t.Helper()
	r := newRewriter()
	out := ""
	for _, piece := range pieces {
		r.write([]byte(piece))
		out += taken(t, r)
	}
	r.final, r.incomplete = true, false
	out += taken(t, r)
	if step, err := r.step(nil); err != nil || step != false {
		t.Fatalf("after the end: %v, %v", step, err)
	}
	return out
}

// taken returns the pending output of a rewriter without handlers.
func taken(t *testing.T, r *rewriter) string {
	t.Helper()
	var out bytes.Buffer
	for {
		step, err := r.step(nil)
		if err != nil {
			t.Fatal(err)
		}
		piece, ok := step.([]byte)
		if !ok {
			return out.String()
		}
		out.Write(piece)
	}
}

// tokens are the tokens of a document given in pieces of so many bytes: text in
// one, however it was cut.
func tokens(document string, size int) []string {
	s := htmlScanner{}
	var in []byte
	var out []string
	text := ""
	flush := func() {
		if text != "" {
			out = append(out, fmt.Sprintf("text %q", text))
		}
		text = ""
	}
	for at := 0; ; at += size {
		final := at >= len(document)
		if !final {
			in = append(in, document[at:min(at+size, len(document))]...)
		}
		for {
			token := s.next(in, final)
			if token.kind == markupNone {
				break
			}
			in = in[len(token.raw):]
			if token.kind == markupText {
				text += string(token.raw)
				continue
			}
			flush()
			if token.kind == markupStart {
				s.enter(token.name)
			}
			if token.kind == markupEnd {
				s.mode = modeData
			}
			line := fmt.Sprintf("%d %s %q", token.kind, token.name, token.text)
			for _, a := range token.attributes {
				line += fmt.Sprintf(" %s=%q", a.name, a.value)
			}
			out = append(out, line)
		}
		if final {
			flush()
			return out
		}
	}
}

// However a document is cut, it passes unchanged and is read alike.
func FuzzHTML(f *testing.F) {
	for _, d := range documents {
		f.Add(d, 1)
	}
	f.Fuzz(func(t *testing.T, document string, size int) {
		size = min(max(size, 1), 1<<10)
		var pieces []string
		for at := 0; at < len(document); at += size {
			pieces = append(pieces, document[at:min(at+size, len(document))])
		}
		if got := passedThrough(t, pieces...); got != document {
			t.Errorf("%q became %q", document, got)
		}
		if a, b := tokens(document, size), tokens(document, len(document)+1); fmt.Sprint(a) != fmt.Sprint(b) {
			t.Errorf("%q in pieces of %d:\n%q\nand in one:\n%q", document, size, a, b)
		}
	})
}

// Tags are those that another reader of HTML finds, names and attributes too.
func FuzzHTMLAgainstParser(f *testing.F) {
	for _, d := range documents {
		f.Add(d)
	}
	f.Fuzz(func(t *testing.T, document string) {
		// The other one changes these characters, knows no CDATA here, reads
		// plaintext and noscript on, and goes its own
		// way within scripts that hold comments.
		lower := strings.ToLower(document)
		for _, differs := range []string{"\x00", "\r", "&", "<![cdata[", "plaintext", "noscript", "<script", "<noframes", "\xff", "<!"} {
			if strings.Contains(lower, differs) {
				return
			}
		}
		want, ok := parserTags(document)
		if got := scannerTags(document); ok && fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q:\n got %q\nwant %q", document, got, want)
		}
	})
}

func scannerTags(document string) (tags []string) {
	s := htmlScanner{}
	for in := []byte(document); len(in) > 0; {
		token := s.next(in, true)
		in = in[len(token.raw):]
		switch token.kind {
		case markupStart:
			s.enter(token.name)
			line := token.name
			seen := map[string]bool{}
			for _, a := range token.attributes {
				if seen[a.name] {
					continue
				}
				seen[a.name] = true
				line += fmt.Sprintf(" %q=%q", a.name, a.value)
			}
			tags = append(tags, line)
		case markupEnd:
			s.mode = modeData
			tags = append(tags, "/"+token.name)
		default:
		}
	}
	return tags
}

func parserTags(document string) (tags []string, ok bool) {
	z := html.NewTokenizer(strings.NewReader(document))
	for {
		switch z.Next() {
		case html.ErrorToken:
			return tags, true
		case html.StartTagToken, html.SelfClosingTagToken:
			name, more := z.TagName()
			line := string(name)
			for more {
				var key, value []byte
				key, value, more = z.TagAttr()
				if len(key) == 0 || bytes.ContainsAny(key, "\"'<=") {
					return nil, false
				}
				line += fmt.Sprintf(" %q=%q", key, value)
			}
			tags = append(tags, line)
		case html.EndTagToken:
			name, _ := z.TagName()
			tags = append(tags, "/"+string(name))
		default:
		}
	}
}

// A document cannot hold more memory than it may.
func TestHTMLBounds(t *testing.T) {
	many := newRewriter()
	many.write([]byte(strings.Repeat("<i>", maxOpen+2)))
	long := newRewriter()
	long.write(append([]byte("<p a='"), bytes.Repeat([]byte("x"), maxMarkup)...))
	for want, r := range map[string]*rewriter{"more than 65536 elements": many, "larger than 16 MiB": long} {
		var err error
		for err == nil {
			var step any
			if step, err = r.step(nil); step == nil {
				break
			}
		}
		thrown, ok := errors.AsType[*engine.Error](err)
		if !ok || !strings.Contains(thrown.Message, want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// Text is passed on as it arrives, and does not wait for a tag.
func TestHTMLPassesTextOn(t *testing.T) {
	r := newRewriter()
	for _, c := range []struct{ in, out string }{
		{"<p>one ", "<p>one "},
		{"two ", "two "},
		{"caf\xc3", "caf"},
		{"\xa9 ", "é "},
		{"a <", "a "},
		{" b", "< b"},
		{" </", " "},
		{"p", ""},
		{">c", "</p>c"},
		{"<!-", ""},
		{"- d", ""},
		{"-->e", "<!-- d-->e"},
		{"<textarea>f", "<textarea>f"},
		{" g", " g"},
		{"</text", ""},
		{" h", "</text h"},
		{"</textarea", ""},
		{">i", "</textarea>i"},
	} {
		t.Run(c.in, func(t *testing.T) {
			r.write([]byte(c.in))
			if out := taken(t, r); out != c.out {
				t.Errorf("after %q: %q, want %q", c.in, out, c.out)
			}
		})
	}
}
