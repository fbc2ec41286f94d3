package secretscan_test

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"

	"github.com/pages-toolchain/pages/manifest/secretscan"
)

// writtenForms are ways in which programs write a text, with the form that a finding has.
func writtenForms() map[string]func(string) string {
	jsonOf := func(s string) string {
		b, _ := json.Marshal(s) // never fails
		return string(b[1 : len(b)-1])
	}
	plainJSON := func(s string) string {
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		_ = enc.Encode(s) // never fails
		return strings.TrimSuffix(b.String(), "\"\n")[1:]
	}
	each := func(format string) func(string) string {
		return func(s string) string {
			var b strings.Builder
			for _, c := range []byte(s) {
				fmt.Fprintf(&b, format, c)
			}
			return b.String()
		}
	}
	forms := map[string]func(string) string{
		"":                  func(s string) string { return s },
		"hexadecimal":       func(s string) string { return hex.EncodeToString([]byte(s)) },
		"hexadecimal upper": func(s string) string { return strings.ToUpper(hex.EncodeToString([]byte(s))) },
		"JSON":              jsonOf,
		"JSON plain":        plainJSON,
		"JSON slashes":      func(s string) string { return strings.ReplaceAll(plainJSON(s), "/", `\/`) },
		"JSON each":         each(`\u%04x`),
		"JSON each upper":   each(`\u%04X`),
		"JSON each byte":    each(`\x%02x`),
		"URL":               url.QueryEscape,
		"URL path":          url.PathEscape,
		"URL lower":         func(s string) string { return lowerEscapes(url.QueryEscape(s)) },
		"URL each":          each("%%%02X"),
		"HTML":              html.EscapeString,
		"HTML named": func(s string) string {
			return strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;").Replace(s)
		},
		"HTML each":          each("&#%d;"),
		"HTML each by hex":   each("&#x%x;"),
		"UTF-16":             each("%c\x00"),
		"UTF-16 other order": each("\x00%c"),
	}
	for name, encoding := range map[string]*base64.Encoding{
		"std": base64.StdEncoding, "url": base64.URLEncoding, "raw": base64.RawStdEncoding,
		"raw url": base64.RawURLEncoding,
	} {
		for _, before := range []string{"", "a", "ab", "api:"} {
			for _, after := range []string{"", "z", "yz"} {
				forms["base64 "+name+before+"-"+after] = func(s string) string {
					return encoding.EncodeToString([]byte(before + s + after))
				}
			}
		}
	}
	return forms
}

func lowerEscapes(s string) string {
	parts := strings.Split(s, "%")
	for i := 1; i < len(parts); i++ {
		parts[i] = strings.ToLower(parts[i][:2]) + parts[i][2:]
	}
	return strings.Join(parts, "%")
}

// TestForms finds a secret of each kind in each form, with its name and its place.
func TestForms(t *testing.T) {
	values := []string{stripe, aws, jwt, "550e8400-e29b-41d4-a716-446655440000", `k#9L"p$2<v>Q!x'Z&8`, "Zk3nQ8rT1vW7 with spaces 9fX2"}
	for name, write := range writtenForms() {
		form, _, _ := strings.Cut(name, " ")
		for _, value := range values {
			t.Run(value, func(t *testing.T) {
				set := secretscan.New([]secretscan.Secret{{Name: "KEY", Value: value}}, secretscan.Options{})
				written := write(value)
				text := "const a = {b: '" + written + "'}"
				found := set.Find([]byte(text))
				if len(found) != 1 {
					t.Errorf("%s of %q: %+v", name, value, found)
					return
				}
				f := found[0]
				if written != value && f.Form != form || f.Name != "KEY" || f.Part != "" || f.Weak {
					t.Errorf("%s of %q: %+v", name, value, f)
				}
				if at := strings.Index(text, written); form != "base64" && (int(f.Start) != at || int(f.End) != at+len(written)) {
					t.Errorf("%s of %q: at %d-%d, is at %d", name, value, f.Start, f.End, at)
				}
				if starred := set.Star(text); len(starred) != len(text) || len(set.Find([]byte(starred))) > 0 ||
					!strings.HasPrefix(starred, "const a = {b: '") {
					t.Errorf("%s of %q is shown: %s", name, value, starred)
				}
			})
		}
	}
}

// TestParts finds parts that reveal as much as the whole value.
func TestParts(t *testing.T) {
	account := `{"type":"service_account","project_id":"boat-club","private_key":"` + strings.ReplaceAll(
		pemKey, "\n", `\n`,
	) + `","client_email":"a@boat-club.example"}`
	for _, c := range []struct{ value, text, want string }{
		{"postgres://app:s3Xk29dLq0Zv71@db.example.com/app", "password: 's3Xk29dLq0Zv71'", "the password in the secret KEY"},
		{"postgres://app:s3X%40k29dLq0Zv71@db.example.com/app", "password: 's3X@k29dLq0Zv71'", "the password in the secret KEY"},
		{"postgres://app:s3Xk29dLq0Zv71@db.example.com/app", "postgres://app:s3Xk29dLq0Zv71@db.example.com/app", "the secret KEY"},
		{"postgres://app:s3Xk29dLq0Zv71@db.example.com/app", "db.example.com", ""},
		{pemKey, strings.TrimSpace(pemKey), "the secret KEY"},
		{pemKey, strings.ReplaceAll(pemKey, "\n", `\n`), "the secret KEY, escaped for JSON"},
		{pemKey, strings.Split(pemKey, "\n")[1], "a line of the secret KEY"},
		{pemKey, strings.Split(pemKey, "\n")[2], "a line of the secret KEY"},
		{pemKey, strings.Split(pemKey, "\n")[0], ""},
		{strings.ReplaceAll(pemKey, "\n", `\n`), strings.Split(pemKey, "\n")[1], "a line of the secret KEY"},
		{strings.ReplaceAll(pemKey, "\n", "\r\n"), strings.Split(pemKey, "\n")[1], "a line of the secret KEY"},
		{account, strings.Split(pemKey, "\n")[2], "a line of the secret KEY"},
		{account, "a@boat-club.example", ""},
		{jwt, strings.Split(jwt, ".")[0] + ".other", ""},
		{stripe, base64.StdEncoding.EncodeToString([]byte(stripe)), "base64 of KEY"},
	} {
		t.Run(c.value, func(t *testing.T) {
			got := ""
			if found := secretscan.New(
				[]secretscan.Secret{{Name: "KEY", Value: c.value}}, secretscan.Options{},
			).Find([]byte(c.text)); len(found) > 0 {
				got = found[0].What()
			}
			if got != c.want {
				t.Errorf("%.30q in %.30q: %q, want %q", c.value, c.text, got, c.want)
			}
		})
	}
}

// TestStream finds a secret wherever the pieces of a text end.
func TestStream(t *testing.T) {
	set := secretscan.New([]secretscan.Secret{{Name: "KEY", Value: stripe}, {Name: "PEM", Value: pemKey}}, secretscan.Options{})
	text := []byte(strings.Repeat("x", 40) + stripe + strings.Repeat("y", 40) + pemKey + "z")
	want := fmt.Sprint(set.Find(text))
	for size := 1; size <= len(text); size++ {
		st := set.Stream()
		for rest := text; len(rest) > 0; {
			n := min(size, len(rest))
			_, _ = st.Write(rest[:n])
			rest = rest[n:]
		}
		if got := fmt.Sprint(st.Findings()); got != want {
			t.Fatalf("in pieces of %d: %s, want %s", size, got, want)
		}
	}
}

// TestUnpack searches packed files, up to the bounds.
func TestUnpack(t *testing.T) {
	set := secretscan.New([]secretscan.Secret{{Name: "KEY", Value: stripe}}, secretscan.Options{})
	plain := []byte(strings.Repeat("line\n", 100) + stripe)
	var gz, br bytes.Buffer
	zipped, packed := gzip.NewWriter(&gz), brotli.NewWriter(&br)
	for _, w := range []interface {
		Write([]byte) (int, error)
		Close() error
	}{zipped, packed} {
		if _, err := w.Write(plain); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for name, contents := range map[string][]byte{"a.js.gz": gz.Bytes(), "a.js.BR": br.Bytes()} {
		if found, _, whole := set.Unpack(name, bytes.NewReader(contents), 1<<20); len(found) != 1 || found[0].Start != 500 || !whole {
			t.Errorf("%s: %+v %v", name, found, whole)
		}
		if found, _, whole := set.Unpack(name, bytes.NewReader(contents), 500); len(found) != 0 || whole {
			t.Errorf("%s, the beginning: %+v %v", name, found, whole)
		}
		if found, _, _ := set.Unpack(name, bytes.NewReader(contents[:len(contents)/2]), 1<<20); len(found) > 1 {
			t.Errorf("%s, half of it: %+v", name, found)
		}
	}
	if found, _, whole := set.Unpack("a.gz", strings.NewReader("no gzip"), 10); len(found) > 0 || !whole {
		t.Error("found in bytes that are not gzip")
	}
}

// FuzzFind plants a secret of random text in a random form at a random place, in random pieces. It must be found there,
// and no part of the report may contain it.
func FuzzFind(f *testing.F) {
	for i, value := range []string{stripe, aws, jwt, pemKey, "k#9Lp$2vQ!xZ", "ünïcödé-Zk3nQ8rT1vW7x"} {
		f.Add(value, "before ", " behind", uint8(i*7), uint16(i*13))
	}
	names := make([]string, 0, 80)
	forms := writtenForms()
	for name := range forms {
		names = append(names, name)
	}
	slices.Sort(names)
	f.Fuzz(func(t *testing.T, value, before, behind string, form uint8, piece uint16) {
		set := secretscan.New([]secretscan.Secret{{Name: "KEY", Value: value}}, secretscan.Options{})
		name := names[int(form)%len(names)]
		if _, strong := secretscan.Strength(value); !strong || len(value) > 4<<10 || strings.Trim(value, "\r\n") != value {
			return
		}
		for _, r := range value {
			if r < ' ' || r >= 0x7f {
				name = "" // the encoders above write other characters in more ways than are known
			}
		}
		written := forms[name](value)
		text := []byte(before + " " + written + " " + behind)
		st := set.Stream()
		for rest := text; len(rest) > 0; {
			n := min(int(piece)+1, len(rest))
			_, _ = st.Write(rest[:n])
			rest = rest[n:]
		}
		found := st.Findings()
		if len(found) == 0 {
			t.Fatalf("%s of %q is not found", name, value)
		}
		for _, f := range found {
			if strings.Contains(f.What(), value) || f.Start < 0 || f.End > int64(len(text)) || f.Start >= f.End {
				t.Fatalf("%+v of %q", f, value)
			}
		}
		if starred := set.Star(string(text)); strings.Contains(starred, written) {
			t.Fatalf("shown: %q", starred)
		}
	})
}
