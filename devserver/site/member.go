package site

import (
	"net/http"
	"slices"
)

// Member is a signed-in person. The Worker sees it on members routes.
type Member struct {
	ID    string `json:"id"`
	Email string `json:"email"`
	Name  string `json:"name"`
}

// Persona is a person one can sign in as while developing.
type Persona struct {
	// Key is what the field "persona" of the sign-in form says: "member".
	Key string `json:"key"`
	Member
	// Outsider is true for somebody who is signed in and no member of the workspace.
	Outsider bool `json:"outsider"`
}

// DefaultPersonas returns the three people every dev site knows: "member",
// "owner" and "outsider". Their ids never change, so that rows which name them
// stay valid from one run to the next.
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

// SetPersonas says who can be signed in as from now on. Somebody who is no longer
// in the list is no member either, at the next request.
func (s *Site) SetPersonas(list []Persona) { s.people.Store(&list) }

// Personas are those who can be signed in as.
func (s *Site) Personas() []Persona { return slices.Clone(s.personas()) }

func (s *Site) personas() []Persona { return *s.people.Load() }

// SetSignedInAs says who visitors are from now on that have signed neither in nor
// out: the key or the email of a persona, or "" for nobody.
func (s *Site) SetSignedInAs(name string) { s.standing.Store(&name) }

func (s *Site) signedInAs() string { return *s.standing.Load() }

// signedInMember returns who sent a request, nil for nobody.
func (s *Site) signedInMember(r *http.Request) (*Member, error) {
	m, err := s.sessions.find(r)
	if m != nil || err != nil || s.signedInAs() == "" || s.sessions.hasCookie(r) {
		return m, err
	}
	if exchangeFrom(r.Context()) != nil || foreignOrigin(r) && !isTopLevelVisit(r) {
		return nil, nil //nolint:nilnil // nobody is signed in, and nothing went wrong
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
