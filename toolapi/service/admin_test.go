package service_test

import (
	"errors"
	"testing"

	"github.com/pages-toolchain/pages/toolapi/service"
)

// TestOperator: a key reaches the workspaces that an operator set up for it.
func TestOperator(t *testing.T) {
	w := newFixture(t)
	ctx, s := t.Context(), w.service
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	must(s.CreateWorkspace(ctx, service.Workspace{Slug: "studio", TimeZone: "Asia/Kathmandu"}))
	must(s.AddMember(ctx, service.Member{Email: "kim@studio.test", Workspace: "studio", Role: "viewer"}))
	must(s.AddMember(ctx, service.Member{Email: "kim@studio.test", Workspace: "studio", Role: "editor"}))
	must(s.AddMember(ctx, service.Member{Email: "kim@studio.test", Workspace: "acme", Role: "viewer"}))
	key, err := s.CreateKey(ctx, service.NewKey{Holder: "kim@studio.test", Workspace: "studio"})
	must(err)
	w.demo.Keys["kim"] = key
	if a := w.ok("kim", "schedule.read", ""); a.text("workspace") != "studio" || a.text("time_zone") != "Asia/Kathmandu" {
		t.Errorf("%s", a.body)
	}
	w.refused("workspace_unreachable", "kim", brand, `{"workspace":"acme"}`)
	must(s.RemoveMember(ctx, "kim@studio.test", "studio"))
	w.refused("workspace_unreachable", "kim", brand, "")

	members, err := s.Members(ctx)
	if err != nil || len(members) != 10 {
		t.Errorf("%d members: %v", len(members), err)
	}
	for name, err := range map[string]error{
		"slug":  s.CreateWorkspace(ctx, service.Workspace{Slug: "A b"}),
		"zone":  s.CreateWorkspace(ctx, service.Workspace{Slug: "z", TimeZone: "Moon/Sea"}),
		"email": s.AddMember(ctx, service.Member{Email: "kim", Workspace: "studio", Role: "viewer"}),
		"role":  s.AddMember(ctx, service.Member{Email: "k@x.test", Workspace: "studio", Role: "king"}),
	} {
		t.Run(name, func(t *testing.T) {
			if _, ok := errors.AsType[*service.InvalidError](err); !ok {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
	if _, ok := errors.AsType[*service.ExistsError](s.CreateWorkspace(ctx, service.Workspace{Slug: "studio"})); !ok {
		t.Error("a workspace was made twice")
	}
	_, unknownHolder := s.CreateKey(ctx, service.NewKey{Holder: "nobody@x.test"})
	_, unknownPin := s.CreateKey(ctx, service.NewKey{Holder: "kim@studio.test", Workspace: "nowhere"})
	for name, err := range map[string]error{
		"workspace": s.AddMember(ctx, service.Member{Email: "k@x.test", Workspace: "nowhere", Role: "viewer"}),
		"member":    s.RemoveMember(ctx, "kim@studio.test", "studio"),
		"holder":    unknownHolder, "pin": unknownPin,
	} {
		t.Run(name, func(t *testing.T) {
			if _, ok := errors.AsType[*service.UnknownError](err); !ok {
				t.Errorf("%s: %v", name, err)
			}
		})
	}
}
