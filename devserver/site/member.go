package site

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"net/mail"
	"slices"
	"strings"
)

// Member is a signed-in person. The Worker sees it on members routes.
type Member struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

// Persona is a person as whom people sign in during development.
type Persona struct {
	// Key is the value of the field "persona" of the sign-in form: "member".
	Key string `json:"key"`
	Member
	// Outsider is true for a person who is not a member of the workspace.
	Outsider bool `json:"outsider"`
}

// DefaultPersonas returns the three personas of every dev site: "member", "owner" and "outsider". Their ids never change, so that rows with
// them stay valid from one run to the next.
func DefaultPersonas() []Persona {
	return []Persona{
		{Key: "member", Member: Member{ID: "usr_dev_member", Email: "member@example.test", Name: "Robin Member"}},
		{Key: "owner", Member: Member{ID: "usr_dev_owner", Email: "owner@example.test", Name: "Alex Owner"}},
		{
			Key: "outsider", Outsider: true,
			Member: Member{ID: "usr_dev_outsider", Email: "outsider@example.test", Name: "Sam Outsider"},
		},
	}
}

// SetPersonas replaces the personas. From the next request on, a person who is no longer in the list is not a member.
func (s *Site) SetPersonas(list []Persona) { s.people.Store(&list) }

// Personas returns the personas.
func (s *Site) Personas() []Persona { return slices.Clone(s.personas()) }

func (s *Site) personas() []Persona { return *s.people.Load() }

// SetSignedInAs sets the person for clients that have neither signed in nor out: the key or the email of a persona, or "" for signed out.
func (s *Site) SetSignedInAs(name string) { s.standing.Store(&name) }

func (s *Site) signedInAs() string { return *s.standing.Load() }

// signedInMember returns the member who sent a request, nil if signed out.
func (s *Site) signedInMember(r *http.Request) (*Member, error) {
	m, err := s.sessions.find(r)
	hasCookie := len(r.CookiesNamed(prefixedCookie(r, s.sessions.cookie))) > 0
	if m != nil || err != nil || s.signedInAs() == "" || hasCookie {
		return m, err
	}
	if exchangeFrom(r.Context()) != nil || s.foreignOrigin(r) && !isTopLevelVisit(r) {
		return nil, nil //nolint:nilnil // signed out is no error
	}
	name := s.signedInAs()
	standing, err := s.identify("", name)
	for _, p := range s.personas() {
		if p.Key == name {
			standing, err = p.Member, nil
		}
	}
	if err != nil {
		return nil, nil //nolint:nilerr,nilnil // a persona that is gone
	}
	return &standing, nil
}

// identify finds the person of a sign-in.
func (s *Site) identify(persona, email string) (Member, error) {
	email = strings.TrimSpace(email)
	if len(s.personas()) == 0 {
		return Member{}, refuse(http.StatusForbidden, "sign_in_closed", "this site has no sign-in")
	}
	for _, p := range s.personas() {
		if persona != "" && p.Key == persona || persona == "" && strings.EqualFold(p.Email, email) {
			return p.Member, nil
		}
	}
	if persona != "" {
		keys := make([]string, len(s.personas()))
		for i, p := range s.personas() {
			keys[i] = `"` + p.Key + `"`
		}
		return Member{}, refuse(http.StatusUnprocessableEntity, "persona_unknown",
			"there is no such persona; use one of "+strings.Join(keys, ", "))
	}
	address, err := mail.ParseAddress(email)
	if err != nil || address.Address != email || len(email) > 254 {
		return Member{}, refuse(
			http.StatusUnprocessableEntity, "email_malformed",
			"that is not an email address; write one such as robin@example.test",
		)
	}
	sum := sha256.Sum256([]byte(strings.ToLower(email)))
	name, _, _ := strings.Cut(email, "@")
	return Member{ID: emailIDPrefix + hex.EncodeToString(sum[:8]), Email: email, Name: name}, nil
}

// isMember is called for every request, since a membership may end at any time.
func (s *Site) isMember(ctx context.Context, m Member) bool {
	if s.options.IsMember != nil {
		return s.options.IsMember(ctx, m)
	}
	if strings.HasPrefix(m.ID, emailIDPrefix) {
		return len(s.personas()) > 0
	}
	return slices.ContainsFunc(s.personas(), func(p Persona) bool { return p.ID == m.ID && !p.Outsider })
}

// emailIDPrefix begins the id of a member who signed in with only an email.
const emailIDPrefix = "usr_mail_"
