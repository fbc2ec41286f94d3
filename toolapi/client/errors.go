package client

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net/http"

	"github.com/pages-toolchain/pages/toolapi"
)

// RefusalError is a call that was admitted and refused (platform document, section 7.2).
type RefusalError struct {
	Tool      string
	Refusal   toolapi.ToolRefusal
	Boundary  bool // refused while resolving the workspace: the tool did not run
	RequestID string
}

func (e *RefusalError) Error() string {
	return fmt.Sprintf("%s was refused: %s (%s)", e.Tool, e.Refusal.Message, e.Refusal.Code)
}

// StatusError is a request that was refused by its status: by the boundary (section
// 7.1), or as an upload, import or preview link (section 7.3).
type StatusError struct {
	Status        int
	Code, Message string
	RetryAfter    int // of the response, in seconds; 0 for none
	RequestID     string
	// Sent names the payload of the request, such as the path of a file or the name of a tool; "" where unknown.
	Sent string
	// Kind is the media type of a body outside the contract, such as "text/html".
	Kind string
}

// Foreign reports whether a proxy, a firewall or another server refused, instead of the service, whose refusals always have
// a code.
func (e *StatusError) Foreign() bool { return e.Code == "" }

func (e *StatusError) Error() string {
	switch {
	case e.Message != "" && e.Code != "":
		return fmt.Sprintf("%s (%s, HTTP %d)", e.Message, e.Code, e.Status)
	case e.Code != "":
		return fmt.Sprintf("the service answered %s (HTTP %d)", e.Code, e.Status)
	}
	about := fmt.Sprintf("HTTP %d %s", e.Status, http.StatusText(e.Status))
	if e.Sent != "" {
		about = e.Sent + " got the response " + about
	}
	if e.Kind != "" {
		about += " (" + e.Kind + ")"
	}
	return about + ", and not from the service itself"
}

// Temporary reports whether the same request may succeed later.
func (e *StatusError) Temporary() bool { return isTemporary(e.Status) }

// TransportError is a request that got no response.
type TransportError struct {
	Reached   bool // the service may have received the request
	RequestID string
	Err       error
	// Proxy is the address of the proxy of the environment that the request took, without a password; "" for none.
	Proxy string
}

func (e *TransportError) Error() string {
	if e.Proxy != "" {
		return "the service does not answer through the proxy " + e.Proxy + ": " + e.Err.Error()
	}
	return "the service does not answer: " + e.Err.Error()
}
func (e *TransportError) Unwrap() error { return e.Err }

// Untrusted reports whether the server did not prove its identity: it has a bad certificate, or
// speaks plain http. Nothing was sent to it.
func (e *TransportError) Untrusted() bool {
	_, ok := errors.AsType[*tls.CertificateVerificationError](e.Err)
	return ok || errors.Is(e.Err, http.ErrSchemeMismatch)
}

// ContractError is a response that breaks the contract.
type ContractError struct {
	Status    int
	Problem   string
	RequestID string
}

func (e *ContractError) Error() string {
	return fmt.Sprintf("the service's response (HTTP %d) %s: is this the address of the tool API?", e.Status, e.Problem)
}
