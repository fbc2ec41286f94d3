package devcommand

import (
	"fmt"
	"strings"
	"testing"
)

// TestCandidates uses lines of real dev servers.
func TestCandidates(t *testing.T) {
	for _, row := range []struct{ name, line, want string }{
		{"vite", "  \x1b[32m➜\x1b[39m  \x1b[1mLocal\x1b[22m:   \x1b[36mhttp://localhost:\x1b[1m5173\x1b[22m/\x1b[39m", "localhost:5173"},
		{"vite, network", "  \x1b[32m➜\x1b[39m  \x1b[1mNetwork\x1b[22m: \x1b[36mhttp://192.168.1.7:\x1b[1m5173\x1b[22m/\x1b[39m", ""},
		{"vite, hint", "  \x1b[2m➜\x1b[22m  Network: use --host to expose", ""},
		{"vite, https", "  ➜  Local:   https://localhost:5173/", "tls localhost:5173"},
		{"vite, IPv6", "  ➜  Local:   http://[::1]:5174/", "[::1]:5174"},
		{"astro", "\x1b[1m┃\x1b[22m Local    \x1b[36mhttp://localhost:4321/docs\x1b[39m", "localhost:4321"},
		{"nuxt", "  \x1b[32m➜\x1b[39m Local:    \x1b[36mhttp://localhost:3000/\x1b[39m", "localhost:3000"},
		{"nuxt, host", "  ➜ Local:    http://0.0.0.0:3000/", "127.0.0.1:3000"},
		{"next", "   - Local:        http://localhost:3000", "localhost:3000"},
		{"next, network", "   - Network:      http://10.0.0.5:3000", ""},
		{"webpack", "<i> [webpack-dev-server] Loopback: http://localhost:8080/, http://127.0.0.1:8080/", "localhost:8080 127.0.0.1:8080"},
		{"webpack, elsewhere", "<i> [webpack-dev-server] On Your Network (IPv4): http://10.11.0.2:8080/", ""},
		{"angular", "  ➜  Local:   http://localhost:4200/", "localhost:4200"},
		{
			"angular, old",
			"** Angular Live Development Server is listening on localhost:4200, open your browser on http://localhost:4200/ **",
			"localhost:4200",
		},
		{"eleventy", "[11ty] Server at http://localhost:8080/", "localhost:8080"},
		{"hugo", "Web Server is available at //localhost:1313/ (bind address 127.0.0.1)", "localhost:1313"},
		{"hugo, URL", "Web Server is available at http://localhost:1313/ (bind address 127.0.0.1)", "localhost:1313"},
		{"jekyll", "    Server address: http://127.0.0.1:4000/", "127.0.0.1:4000"},
		{"docusaurus", "[SUCCESS] Docusaurus website is running at: http://localhost:3000/", "localhost:3000"},
		{"parcel", "Server running at http://localhost:1234", "localhost:1234"},
		{"remix", "[remix-serve] http://localhost:3000 (http://10.0.0.5:3000)", "localhost:3000"},
		{"a port alone", "Server listening on port 4000", "localhost:4000"},
		{"express", "Listening on port: 3001", "localhost:3001"},
		{"all addresses of IPv6", "Listening on http://[::]:3000", "localhost:3000"},
		{"a name of this machine", "Local: http://app.localhost:3000/", "app.localhost:3000"},
		{"a proxy of an API elsewhere", "proxying /api to https://api.example.com:443/", ""},
		{"a host that looks like this one", "see http://localhost.example.com:3000/", ""},
		{"a user in front of it", "see http://localhost:3000@evil.example:80/", "localhost:3000"},
		{"no port", "at http://localhost/", "localhost:80"},
		{"a port that is none", "at http://localhost:99999/", ""},
		{"a title for the terminal", "\x1b]0;http://localhost:1/\x07ready", ""},
		{"a link", "\x1b]8;;http://10.0.0.1:9/\x1b\\http://localhost:5173\x1b]8;;\x1b\\", "localhost:5173"},
	} {
		t.Run(row.name, func(t *testing.T) {
			var got []string
			for _, c := range candidatesIn(plain(row.line)) {
				tls := ""
				if c.tls {
					tls = "tls "
				}
				got = append(got, tls+c.name())
			}
			if text := strings.Join(got, " "); text != row.want {
				t.Errorf("%q names %q, want %q", row.line, text, row.want)
			}
		})
	}
}

func TestColoured(t *testing.T) {
	for _, row := range []struct{ name, line, want string }{
		{"colours stay", "\x1b[32mok\x1b[39m", "\x1b[32mok\x1b[39m\x1b[0m"},
		{"the screen is not cleared", "\x1b[2J\x1b[3J\x1b[Hok", "ok\x1b[0m"},
		{"nor the title set", "\x1b]0;x\x07ok", "ok\x1b[0m"},
		{"nor an answer asked for", "\x1b[6nok\u009b6n", "ok6n\x1b[0m"},
	} {
		if got := Coloured(row.line); got != row.want {
			t.Errorf("%s: %q, want %q", row.name, got, row.want)
		}
	}
}

func TestParseURL(t *testing.T) {
	for _, row := range []struct{ url, want string }{
		{"http://localhost:5173", "localhost:5173 false <nil>"},
		{"http://127.0.0.1:5173/", "127.0.0.1:5173 false <nil>"},
		{"https://[::1]:5173", "[::1]:5173 true <nil>"},
		{"http://localhost", "localhost:80 false <nil>"},
		{"http://example.com:5173", " false --upstream takes a server on this machine only: localhost, 127.0.0.1 or [::1]"},
		{"http://10.0.0.1:5173", " false --upstream takes a server on this machine only: localhost, 127.0.0.1 or [::1]"},
		{"localhost:5173", " false it is a URL such as http://localhost:5173"},
		{"ftp://localhost", " false it is a URL such as http://localhost:5173"},
		{"http://localhost:5173/docs", " false it must have scheme, host and port only, such as http://localhost:5173"},
		{"http://a@localhost:5173", " false it must have scheme, host and port only, such as http://localhost:5173"},
		{"http://localhost:0", " false its port must be from 1 to 65535"},
	} {
		s, err := ParseURL(row.url)
		if got := fmt.Sprint(s.Host, " ", s.TLS, " ", err); got != row.want {
			t.Errorf("%s: %s, want %s", row.url, got, row.want)
		}
	}
}

func TestName(t *testing.T) {
	for _, row := range []struct{ args, want string }{
		{"npm run dev", "npm run dev"},
		{"npx vite --port 3000", "vite"},
		{"/usr/bin/pnpm dev", "pnpm dev"},
		{"node --inspect server.js", "server.js"},
		{"hugo server -D", "hugo"},
	} {
		if got := Name(strings.Fields(row.args)); got != row.want {
			t.Errorf("%s is called %q, want %q", row.args, got, row.want)
		}
	}
}
