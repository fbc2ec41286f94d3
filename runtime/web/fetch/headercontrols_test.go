package fetch_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// rawServer writes the bytes of answer for each request, and closes the connection. It counts the requests.
func rawServer(t *testing.T, answer func(head, body string) string) (host string, hits *atomic.Int64) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	hits = &atomic.Int64{}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			hits.Add(1)
			go func() {
				defer conn.Close()
				from := bufio.NewReader(conn)
				var head strings.Builder
				for !strings.HasSuffix(head.String(), "\r\n\r\n") {
					c, err := from.ReadByte()
					if err != nil {
						return
					}
					head.WriteByte(c)
				}
				body := ""
				if n := 0; strings.Contains(head.String(), "Content-Length: ") {
					_, rest, _ := strings.Cut(head.String(), "Content-Length: ")
					if _, err := fmt.Sscan(rest, &n); err == nil {
						b := make([]byte, n)
						_, _ = io.ReadFull(from, b)
						body = string(b)
					}
				}
				if strings.Contains(head.String(), "Transfer-Encoding: chunked") { // to the end of the connection
					_, _ = io.Copy(io.Discard, from)
				}
				_, _ = io.WriteString(conn, answer(head.String(), body))
			}()
		}
	}()
	return listener.Addr().String(), hits
}

// Control characters are sent and received unchanged, except for NUL, CR and LF.
func TestControlCharactersInHeaders(t *testing.T) {
	host, _ := rawServer(t, func(head, body string) string {
		method, path, _ := strings.Cut(strings.SplitN(head, " HTTP/", 2)[0], " ")
		content := ""
		for line := range strings.Lines(head) {
			if strings.HasPrefix(line, "X-") {
				content += strings.TrimSpace(line) + "|"
			}
		}
		content = fmt.Sprintf("%s %q %s", method, content, body)
		answer := fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n"+
			"X-One: \x01\x1f\x7f a\r\nX-Two: plain\r\nx-one:  \x0bb \r\n", len(content))
		switch path {
		case "/plain":
			answer = fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n", len(content))
		case "/early":
			answer = "HTTP/1.1 103 Early\r\nX-Early: \x02\r\n\r\n" + answer
		case "/waiting":
			answer = strings.Repeat("HTTP/1.1 102 Processing\r\n\r\n", 200) + answer
		case "/moved":
			return "HTTP/1.1 302 Found\r\nX-Odd: \x02\r\nLocation: /there\r\n\r\n"
		case "/bytes":
			return "HTTP/1.1 302 Found\r\nLocation: /plain?a=\xff\xc3\xbc\r\n\r\n"
		case "/text":
			return "HTTP/1.1 302 Found\r\nLocation: /plain?a=\xc3\xbc\r\n\r\n"
		case "/nul":
			answer += "X-Nul: a\x00b\r\n"
		case "/return":
			answer += "X-Return: a\rb\r\n"
		case "/length":
			answer = strings.Replace(answer, "Length: ", "Length: \x01", 1)
		case "/name":
			answer += "X \x01: b\x01\r\n"
		case "/folded":
			answer += "X-Folded: a\x01\r\n b\r\n"
		case "/endless":
			answer += strings.Repeat("X-More: "+strings.Repeat("\x01", 60<<10)+"\r\n", 5)
		case "/line":
			answer += "X-Line: " + strings.Repeat("\x01", 300<<10) + "\r\n"
		case "/none":
			return ""
		}
		if method == http.MethodHead {
			content = ""
		}
		return answer + "\r\n" + content
	})
	const seen = `; return [r.status, r.headers.get("x-one"), r.headers.get("x-two"), await r.text()]`
	const got = `[200,"\u0001\u001f\u007f a, \u000bb","plain",`
	const refused = `/Error: Network connection lost\. fetch to .* failed: .*(malformed|head is too long|bad Content-Length|EOF)/`
	var snippets []webtest.Snippet
	for _, c := range []struct{ name, call, want string }{
		{
			"sent by a GET",
			`fetch("{H}/plain", { headers: { "x-a": " \x01b\x7f\t", "x-b": "c" } })`,
			`[200,null,null,"GET \"X-A: \\x01b\\x7f|X-B: c|\" "]`,
		},
		{
			"sent by a POST",
			`fetch("{H}/plain", { method: "POST", body: "sent", headers: { "x-a": "\x05" } })`,
			`[200,null,null,"POST \"X-A: \\x05|\" sent"]`,
		},
		{"sent and received", `fetch("{H}/", { headers: { "x-a": "\x05" } })`, got + `"GET \"X-A: \\x05|\" "]`},
		{"received by a GET", `fetch("{H}/")`, got + `"GET \"\" "]`},
		{"received by a HEAD", `fetch("{H}/", { method: "HEAD" })`, got + `""]`},
		{"an interim answer", `fetch("{H}/early")`, got + `"GET \"\" "]`},
		{"a redirect", `fetch("{H}/moved", { headers: { "x-a": "\x05" } })`, got + `"GET \"X-A: \\x05|\" "]`},
		{"received by a POST", `fetch("{H}/", { method: "POST", body: "sent" })`, refused},
		{"NUL", `fetch("{H}/nul")`, refused},
		{"too many interim responses", `fetch("{H}/waiting", { headers: { "x-a": "\x05" } })`, `/^Error: .* too many interim responses/`},
		{"a carriage return", `fetch("{H}/return")`, refused},
		{"in Content-Length", `fetch("{H}/length")`, refused},
		{"in a name", `fetch("{H}/name")`, refused},
		{"in a folded line", `fetch("{H}/folded")`, refused},
		{"a head without end", `fetch("{H}/endless")`, refused},
		{"a line without end", `fetch("{H}/line")`, refused},
		{"no answer", `fetch("{H}/none", { headers: { "x-a": "\x05" } })`, refused},
		{"NUL that is sent", `fetch("{H}/", { headers: { "x-a": "a\0b" } })`, `/TypeError: Invalid header value/`},
	} {
		call := strings.ReplaceAll(c.call, "{H}", "http://"+host)
		snippets = append(snippets, webtest.Snippet{c.name, "const r = await " + call + seen, c.want})
	}
	snippets = append(snippets, webtest.Snippet{
		"a body that fails",
		`const body = new ReadableStream({ pull() { throw new Error("source"); } }); await fetch("http://` + host + `/plain", {
			method: "POST", body, headers: { "x-a": "\x01" } })`,
		`/^Error: .*source/`,
	})
	for _, c := range []struct{ name, path, want string }{
		{"a Location of bytes that are not text", "/bytes", "%FF%C3%BC"},
		{"a Location of text", "/text", "%C3%BC"},
	} {
		call := `return (await fetch("http://` + host + c.path + `")).url.replace(/.*=/, "")`
		snippets = append(snippets, webtest.Snippet{c.name, call, `"` + c.want + `"`})
	}
	webtest.Try(t, web.Options{AllowFetch: []string{host}, SubRequests: 100}, snippets)
	// A fresh server that no earlier test could reach, so that no earlier connection is pending.
	private, hits := rawServer(t, func(string, string) string { return "" })
	webtest.Try(t, web.Options{}, []webtest.Snippet{{"a private address", `await fetch("http://` + private + `/", {
		headers: { "x-a": "\x05" } })`, `/Error: fetch to .* is refused/`}})
	if n := hits.Load(); n != 0 {
		t.Errorf("%d connections reached a private address", n)
	}
}

// A server may close a kept connection at any time; a repeatable request is sent again.
func TestFetchOverClosedConnections(t *testing.T) {
	host, _ := rawServer(t, func(head, body string) string {
		content := strings.ToLower(strings.SplitN(head, " ", 2)[0] + " " + body)
		if strings.Contains(strings.ToLower(head), "idempotency") {
			content += " with a key"
		}
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(content), content)
	})
	var snippets []webtest.Snippet
	for _, c := range []struct{ init, want string }{
		{`{ method: "PUT", body: "sent" }`, "put sent"},
		{`{ method: "DELETE", body: "sent" }`, "delete sent"},
		{`{ method: "DELETE" }`, "delete "},
		{`{}`, "get "},
	} {
		snippets = append(snippets, webtest.Snippet{
			c.init,
			`const seen = new Set(); for (let i = 0; i < 40; i++) seen.add(await (await fetch("http://` + host + `/", ` + c.init + `)).text(
				)); return [...seen]`,
			fmt.Sprintf("[%q]", c.want),
		})
	}
	webtest.Try(t, web.Options{AllowFetch: []string{host}, SubRequests: 100}, snippets)
}

// Bytes that a server sends after a response without content do not become the response to the next request, which could be another
// Worker's.
func TestContentAfterNoContent(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer conn.Close()
				from, late := bufio.NewReader(conn), ""
				for {
					r, err := http.ReadRequest(from)
					if err != nil {
						return
					}
					_, _ = io.Copy(io.Discard, r.Body)
					answer := "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nmine"
					switch r.URL.Path {
					case "/length":
						answer = "HTTP/1.1 204 No Content\r\nContent-Length: 43\r\n\r\n"
						late = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nalien"
					case "/chunked":
						answer, late = "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n", "5\r\nalien\r\n0\r\n\r\n"
					case "/empty":
						answer = "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n"
					default:
						answer = late + answer // comes when the connection is used again
					}
					if _, err := io.WriteString(conn, answer); err != nil {
						return
					}
				}
			}()
		}
	}()
	host := listener.Addr().String()
	var snippets []webtest.Snippet
	for _, path := range []string{"length", "chunked", "empty"} {
		for _, method := range []string{"GET", "POST"} {
			snippets = append(snippets, webtest.Snippet{
				method + " " + path,
				`const none = await fetch("http://` + host + `/` + path + `", { method: "` + method + `" });
				const next = await fetch("http://` + host + `/next", { method: "POST", body: "sent" });
				return [none.status, none.body, next.status, await next.text()]`,
				`[204,null,200,"mine"]`,
			})
		}
	}
	webtest.Try(t, web.Options{AllowFetch: []string{host}, SubRequests: 100}, snippets)
}

// Statuses that no server sends on purpose.
func TestOddStatus(t *testing.T) {
	host, _ := rawServer(t, func(head, _ string) string {
		_, path, _ := strings.Cut(strings.SplitN(head, " HTTP/", 2)[0], " /")
		return "HTTP/1.1 " + path + " Odd\r\nUpgrade: x\r\nConnection: upgrade\r\nContent-Length: 2\r\n\r\nok"
	})
	var snippets []webtest.Snippet
	for _, c := range []struct{ status, want string }{
		{"101", `[101,"Odd",true,""]`},
		{"200", `[200,"Odd",false,"ok"]`},
		{"205", `[205,"Odd",true,""]`},
		{"600", `[600,"Odd",false,"ok"]`},
		{"999", `[999,"Odd",false,"ok"]`},
		{"099", `/Error: Network connection lost\. fetch to .* failed: malformed HTTP status code 099/`},
		{"000", `/Error: Network connection lost\. fetch to .* failed: malformed HTTP status code 000/`},
		{"1000", `/Error: Network connection lost\. fetch to .* failed: .*malformed HTTP status code/`},
		{"20", `/Error: Network connection lost\. fetch to .* failed: .*malformed HTTP status code/`},
		{"-20", `/Error: Network connection lost\. fetch to .* failed: .*malformed HTTP status code/`},
	} {
		snippets = append(snippets, webtest.Snippet{"status " + c.status, `const r = await fetch("http://` + host + `/` + c.status + `");
			return [r.status, r.statusText, r.body === null, await r.text()]`, c.want})
	}
	webtest.Try(t, web.Options{AllowFetch: []string{host}, SubRequests: 100}, snippets)
}
