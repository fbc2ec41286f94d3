package upstream

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"regexp"
	"strings"
	"sync"

	"github.com/coder/websocket"

	"github.com/pages-toolchain/pages/devserver/site"
)

// This file relays a stranger's WebSocket of hot module replacement on a site with members routes. Dev servers also use it to send errors,
// with the lines around them, to all browsers. Members, and visitors of sites without members routes, get the connection itself.

const maxMessage = 64 << 20

// relay passes the messages of a WebSocket on.
func (p *Proxy) relay(w http.ResponseWriter, r *http.Request, s *pass) error {
	if !strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		return &site.RefusalError{
			Status: http.StatusUnauthorized, Code: "sign_in_required", Message: "only members may switch to another protocol here",
		}
	}
	header := r.Header.Clone()
	for name := range header {
		if strings.HasPrefix(name, "Sec-Websocket-") || name == "Upgrade" || name == "Connection" || name == "Accept-Encoding" {
			header.Del(name)
		}
	}
	p.mark(header, r)
	scheme := "ws"
	if s.target.TLS {
		scheme = "wss"
	}
	host := s.host(r)
	if header.Get("Origin") != "" && host != r.Host {
		header.Set("Origin", "http://"+host)
	}
	var protocols []string
	for _, line := range r.Header.Values("Sec-Websocket-Protocol") {
		for each := range strings.SplitSeq(line, ",") {
			protocols = append(protocols, strings.TrimSpace(each))
		}
	}
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	server, resp, err := websocket.Dial( //nolint:bodyclose // the package keeps none open
		ctx, scheme+"://"+s.target.Address+r.URL.RequestURI(), &websocket.DialOptions{
			HTTPClient: &http.Client{
				Transport:     p.transport,
				CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			},
			HTTPHeader: header, Host: host, Subprotocols: protocols, CompressionMode: websocket.CompressionDisabled,
		})
	if err != nil && resp != nil && resp.StatusCode != http.StatusSwitchingProtocols {
		w.WriteHeader(resp.StatusCode)
		return nil
	}
	if err != nil {
		return p.failure(r, err)
	}
	defer func() { _ = server.CloseNow() }()
	var chosen []string
	if server.Subprotocol() != "" {
		chosen = []string{server.Subprotocol()}
	}
	client, err := websocket.Accept(w, r, &websocket.AcceptOptions{
		InsecureSkipVerify: true, // the server has checked the Origin
		Subprotocols:       chosen, CompressionMode: websocket.CompressionDisabled,
	})
	if err != nil {
		return nil // the package has answered
	}
	defer func() { _ = client.CloseNow() }()
	client.SetReadLimit(maxMessage)
	server.SetReadLimit(maxMessage)
	go func() {
		defer cancel()
		passMessages(ctx, client, server, func([]byte) bool { return true })
	}()
	passMessages(ctx, server, client, s.modules.mayHear)
	return nil
}

// passMessages passes messages on until a connection ends, and then its end.
func passMessages(ctx context.Context, from, to *websocket.Conn, may func([]byte) bool) {
	for {
		kind, message, err := from.Read(ctx)
		if err != nil {
			ended, _ := errors.AsType[websocket.CloseError](err)
			if ended.Code == 0 || ended.Code == websocket.StatusNoStatusRcvd || ended.Code == websocket.StatusAbnormalClosure {
				ended.Code = websocket.StatusGoingAway
			}
			_ = to.Close(ended.Code, ended.Reason)
			return
		}
		if may(message) && to.Write(ctx, kind, message) != nil {
			return
		}
	}
}

// named finds possible names of files in a message.
var named = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`[\pL\pN_@$+.()\[\]~/\\:-]*[/\\][\pL\pN_@$+.()\[\]~/\\:-]+\.[\pL\pN]+`)
})

// mayHear reports whether a message may go to a stranger: it quotes no lines, or only files of the site that are public. Names alone reveal
// no text.
func (m *modules) mayHear(message []byte) bool {
	text := string(message)
	if !strings.Contains(text, `\n`) && !strings.Contains(text, "\n") {
		return true
	}
	text = strings.NewReplacer(`\\`, "/", `\n`, "\n", `\t`, "\t", `\"`, `"`).Replace(text)
	const most = 1000
	names := named().FindAllString(text, most)
	if len(names) == most {
		return false
	}
	for _, name := range names {
		name = strings.TrimLeft(filepath.ToSlash(name), "(")
		if at := strings.Index(name, "://"); at >= 0 { // http://localhost:5173/src/x.js
			_, name, _ = strings.Cut(name[at+3:], "/")
		}
		if !strings.HasPrefix(name, "/") {
			name = "/" + strings.TrimPrefix(name, "./")
		}
		file := m.source(name)
		if file == "" || strings.Contains(file, "node_modules/") {
			continue
		}
		if !m.isPublic("/"+strings.TrimPrefix(file, "/")) && !m.isPublic("/@fs"+filepath.ToSlash(filepath.Join(m.dir, file))) {
			return false
		}
	}
	return true
}
