package site

import "context"

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

// MemberFrom returns the member whose request a [Worker] is answering. It is
// false on routes without a members gate.
func MemberFrom(ctx context.Context) (Member, bool) {
	if x := exchangeFrom(ctx); x != nil && x.gated {
		return x.member, true
	}
	return Member{}, false
}
