package remote

import (
	"crypto/tls"
	"errors"
	"net/http"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/client"
	"github.com/pages-toolchain/pages/toolapi/deploy"
)

// TestInterruptedDeploys: after any interruption of a deploy, the message has the next step, and the exit code shows whether running it
// again is enough.
func TestInterruptedDeploys(t *testing.T) {
	lost := &client.TransportError{Reached: true, RequestID: "r1", Err: errors.New("connection reset")}
	status := func(n int, code string) error {
		return &client.StatusError{Status: n, Code: code, Message: "No.", RequestID: "r2"}
	}
	for name, c := range map[string]struct {
		err      error
		code     int
		id, next string
		request  string
	}{
		"network lost while sending": {
			&deploy.UnfinishedError{Stored: 3, Missing: 4, Err: lost},
			failure.ExitResume, "unfinished",
			"run the same command again: it sends the missing files", "r1",
		},
		"service shut down": {
			&deploy.UnfinishedError{Stored: 3, Missing: 4, Err: status(503, toolapi.CodePagesUnavailable)},
			failure.ExitResume, "unfinished",
			"run the same command again: it sends the missing files", "r2",
		},
		"network lost before": {
			lost, failure.ExitNetwork, "no-answer",
			"check the address (PAGES_BASE_URL) and the network, and try again", "r1",
		},
		"plain http": {
			&client.TransportError{RequestID: "r3", Err: http.ErrSchemeMismatch},
			failure.ExitNetwork, "no-answer",
			"check the port of the address (PAGES_BASE_URL); that of a service on this machine begins with http://", "r3",
		},
		"unknown certificate": {
			&client.TransportError{RequestID: "r3", Err: &tls.CertificateVerificationError{Err: errors.New("unknown")}},
			failure.ExitNetwork, "no-answer",
			"check the address (PAGES_BASE_URL) and this machine's clock; if your own certificate authority signs, name " +
				"its certificate's file in SSL_CERT_FILE", "r3",
		},
		"an address below the API's": {
			status(404, toolapi.CodeNotFound), failure.ExitRefused, toolapi.CodeNotFound,
			"check PAGES_BASE_URL: leave out /api/v1 and the rest of the path; pages tools lists the tools of the service", "r2",
		},
		"a proxy that takes no large file": {
			&client.StatusError{Status: 413, Sent: "public/a", Kind: "text/html", RequestID: "r2"}, failure.ExitRefused, "http-413",
			"a proxy in front of the service refuses requests of this size: ask its operator to raise the limit (client_max_body_size " +
				"of nginx); or leave the file out (.assetsignore)", "r2",
		},
		"a firewall": {
			&client.StatusError{Status: 403, Sent: "public/a", Kind: "text/html", RequestID: "r2"}, failure.ExitAccess, "http-403",
			"the key may be valid: a proxy or a firewall on the way refused the request. Ask the operator of the network, or " +
				"check PAGES_BASE_URL", "r2",
		},
		"a proxy that wants a name": {
			&client.StatusError{Status: 407, Kind: "text/html", RequestID: "r2"}, failure.ExitNetwork, "http-407",
			"give the proxy's name and password in its variable: HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT", "r2",
		},
		"a tunnel that wants a name": {
			&client.TransportError{Proxy: "http://proxy:3128", RequestID: "r1", Err: errors.New("Proxy Authentication Required")},
			failure.ExitNetwork, "no-answer",
			"give the proxy's name and password in its variable: HTTPS_PROXY=http://NAME:PASSWORD@HOST:PORT", "r1",
		},
		"a dead proxy": {
			&client.TransportError{Proxy: "http://proxy:3128", RequestID: "r1", Err: errors.New("connection refused")},
			failure.ExitNetwork, "no-answer",
			"the variable HTTPS_PROXY (or HTTP_PROXY, or in lower case) names that proxy: correct or remove it, or name the " +
				"service's host in NO_PROXY", "r1",
		},
		"service away before": {
			status(503, toolapi.CodeUnavailable), failure.ExitNetwork, toolapi.CodeUnavailable,
			"try again", "r2",
		},
		"a file changed": {
			&deploy.ChangedError{Path: "public/a"},
			failure.ExitRefused, toolapi.CodeFileChanged,
			"let the build finish, and deploy again", "",
		},
		"someone else was faster": {
			&deploy.ConflictError{Live: "r2-b"},
			failure.ExitRefused, toolapi.CodeRevisionConflict,
			"look at it with pages deploy --plan, and deploy again; --force skips the check", "",
		},
		"key revoked meanwhile": {
			status(401, toolapi.CodeUnauthorized), failure.ExitAccess, toolapi.CodeUnauthorized,
			"check the key: PAGES_API_KEY, --api-key-file, or pages login", "r2",
		},
		"access taken meanwhile": {
			status(403, toolapi.CodeAccessMissing), failure.ExitAccess, toolapi.CodeAccessMissing,
			"the key is valid, but the API is closed to it: ask an owner of the workspace", "r2",
		},
		"still over the rate": {
			status(429, toolapi.CodeRateLimited), failure.ExitRate, toolapi.CodeRateLimited,
			"wait a minute, or use another key", "r2",
		},
		"over it for an hour": {
			&client.StatusError{Status: 429, Code: toolapi.CodeRateLimited, RetryAfter: 3600, RequestID: "r2"},
			failure.ExitRate, toolapi.CodeRateLimited,
			"wait 3600 s, or use another key", "r2",
		},
		"upload expired for good": {
			status(410, toolapi.CodeUploadExpired), failure.ExitRefused, toolapi.CodeUploadExpired,
			"run the same command again: it declares the files again, and sends the missing ones", "r2",
		},
		"upload cancelled for good": {
			status(404, toolapi.CodeUploadNotFound), failure.ExitRefused, toolapi.CodeUploadNotFound,
			"run the same command again: it declares the files again, and sends the missing ones", "r2",
		},
		"too many uploads are open": {
			status(409, toolapi.CodeTooManyUploads), failure.ExitRefused, toolapi.CodeTooManyUploads,
			"let another deploy end, or end one: pages revisions uploads lists them", "r2",
		},
		"too many previews are good": {
			status(409, toolapi.CodeTooManyPreviews), failure.ExitRefused, toolapi.CodeTooManyPreviews,
			"end one with pages preview revoke ID; --expires makes links that end sooner", "r2",
		},
		"disk of the service full": {
			status(507, toolapi.CodeStorageFull), failure.ExitNetwork, toolapi.CodeStorageFull,
			"ask the operator of the service for room on its disk, and run the same command again", "r2",
		},
	} {
		t.Run(name, func(t *testing.T) {
			f, ok := errors.AsType[*failure.Error](Error(c.err))
			if !ok {
				t.Errorf("%s: %v", name, Error(c.err))
				return
			}
			request := ""
			if f.Detail != nil {
				request = f.Detail.RequestID
			}
			if f.Exit != c.code || f.Code != c.id || f.Fix != c.next || request != c.request || f.Message == "" {
				t.Errorf("%s: %d %s %q %q %s, want %d %s %q %s",
					name, f.Exit, f.Code, f.Message, f.Fix, request, c.code, c.id, c.next, c.request)
			}
		})
	}
}
