package validate_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/validate"
)

// TestFormsThatDoNotArrive: each form of a page whose posts are lost is warned of, with what to write.
func TestFormsThatDoNotArrive(t *testing.T) {
	const contact = `action="/__pages/forms/contact" method=post`
	for form, want := range map[string]string{
		`<form method=POST data-netlify=true>`: `form-unreachable: "data-netlify" does not collect forms here: the form is sent to ` +
			`"/docs/page.html", which takes no posts; write action="/__pages/forms/contact" method="post"`,
		`<form netlify name=order>`: `form-unreachable: "netlify" does not collect forms here: the form is sent to "/docs/page.html", ` +
			`which ` +
			`takes no posts; write action="/__pages/forms/order" method="post"`,
		`<form method=post action="/thanks" data-netlify>`: `form-unreachable: "data-netlify" does not collect forms here: the form ` +
			`is sent ` +
			`to "/thanks", which takes no posts; write action="/__pages/forms/contact" method="post"`,
		`<form action="/__pages/form/contact" method=post>`: `form-unreachable: the form is sent to "/__pages/form/contact", which ` +
			`does not exist: the platform refuses it with 404; write action="/__pages/forms/contact" method="post"`,
		`<form action="/__pages/form" method=post>`: `form-unreachable: the form is sent to "/__pages/form", which does not exist: ` +
			`the platform refuses it with 404; write action="/__pages/forms/form" method="post"`,
		`<form action="__pages/forms/contact" method=post>`: `form-unreachable: the form is sent to "/docs/__pages/forms/contact": its ` +
			`action is relative to the page; begin the action with a slash: write action="/__pages/forms/contact" method="post"`,
		`<form action="/send" method=post>`: `form-unreachable: the form is sent to "/send", which no Worker answers: it is refused; ` +
			`write action="/__pages/forms/send" method="post", or list the path in "routes" for the Worker to answer`,
		`<form ` + contact + ` enctype="text/plain">`: `form-encoding: the form is sent as text/plain, which the platform refuses with ` +
			`415; remove the enctype`,
		`<form ` + contact + `><input type=file name=a>`: `form-encoding: the form has a file field, and sends only the names of the ` +
			`files; ` +
			`add enctype="multipart/form-data"`,
		`<form ` + contact + `><input><textarea></textarea><input type=submit>`: `form-unnamed: 2 fields of the form have no name: ` +
			`browsers do not send them; add name="…" to each`,
		`<form id=f ` + contact + `></form><input form=f>`: `form-unnamed: a field of the form has no name: browsers do not send ` +
			`it; add name="…" to each`,
		`<form ` + contact + `><input type=hidden name=_next value=thanks.html>`: `form-next: the field "_next" is "thanks.html", which ` +
			`is relative: it is ignored; write "/thanks.html"`,
		`<form ` + contact + `><input name=_next value="https://example.com/thanks?a">`: `form-next: the field "_next" leads to ` +
			`"https://example.com/thanks?a": it works only if that is this site's own address; write "/thanks"`,
		`<form ` + contact + `><input name=_next value="/nosuch">`: `form-next: the field "_next" leads to "/nosuch", which is not ` +
			`a page of the site; write the path of a page of this site, such as "/thanks"`,
		`<form action="/__pages/forms/Contact" method=post>`: `form-name-invalid: the form "Contact" has an invalid name: the ` +
			`platform refuses it with 422; give it a name of at most 64 lowercase letters, digits, - and _`,

		`<form ` + contact + ` enctype="multipart/form-data"><input type=file name=a>`: "",
		`<form ` + contact + `><input name=_next value="/danke schön"><button>`:        "",
		`<form ` + contact + `><input name=_next value="/docs/page?ok#top">`:           "",
		`<form ` + contact + `><input name=_next value="/old/x">`:                      "",
		`<form ` + contact + `><input name=_next value="/__pages/forms/thanks">`:       "",
		`<form ` + contact + `><input disabled>`:                                       "",
		`<form action="/api/send" method=post>`:                                        "",
		`<form action="/search">`:                                                      "",
		`<form action="https://elsewhere.example/x" method=post>`:                      "",
		`<form action="/__pages/sign-out" method=post>`:                                "",
		`<form method=post>`: "", // a script may send it
	} {
		t.Run(form, func(t *testing.T) {
			fsys := fstest.MapFS{
				manifest.FileName: {Data: []byte(`{"entry":"w.js","assets":"p","routes":[{"pattern":"/api/*"}],` +
					`"forms":[{"name":"contact","event":"custom.contact"}]}`)},
				"w.js": {}, "p/thanks.html": {}, "p/search.html": {}, "p/danke schön.html": {},
				"p/_redirects":     {Data: []byte("/old/* /thanks\n")},
				"p/docs/page.html": {Data: []byte(form)}, "p/a.html": {Data: []byte(`<form ` + contact + `></form>`)},
			}
			_, found := validate.Load(fsys, manifest.FileName)
			var got []string
			for _, d := range found {
				got = append(got, fmt.Sprintf("%s: %s; %s", d.Code, d.Message, d.Fix))
				if d.File != "p/docs/page.html" || d.Line != 1 {
					t.Errorf("%+v", d)
				}
			}
			if strings.Join(got, "\n") != want {
				t.Errorf("%s:\n got %s\nwant %s", form, strings.Join(got, "\n"), want)
			}
		})
	}
}
