// Package formcheck finds forms of pages whose posts never arrive or lose content.
//
// Input: forms from [htmlforms.Search] or [htmlforms.Read], and the answers of the site ([Site]). Output: faults, each with
// its fix. No function returns an error, and all are safe for concurrent use.
package formcheck

import (
	"cmp"
	"fmt"
	"net/url"
	"path"
	"strings"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/htmlforms"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

const (
	reserved    = "/" + sitepath.ReservedPages + "/"
	formsAction = reserved + "forms"
)

// Site reports the site's answers at decoded paths.
type Site interface {
	Takes(path string) bool // a post
	Shows(path string) bool // a visit
}

// Fault is a mistake in a form.
type Fault struct{ Code, Message, Fix string }

// Of lists the faults of a form.
func Of(tag htmlforms.Tag, site Site) []Fault {
	c := check{site: site}
	if tag.Action == formsAction || strings.HasPrefix(tag.Action, formsAction+"/") && strings.Count(tag.Action, "/") == 3 {
		c.sent(tag)
	} else {
		c.target(tag)
	}
	return c.faults
}

type check struct {
	site   Site
	faults []Fault
}

func (c *check) add(code, message, fix string) {
	c.faults = append(c.faults, Fault{code, message, fix})
}

// target reports whether a path of this site accepts the form's post.
func (c *check) target(tag htmlforms.Tag) {
	name := "contact"
	if last := path.Base(tag.Action); tag.Host == "" && manifest.NameFix(last) == "write "+sourcetext.Literal(last) {
		name = last
	} else if manifest.NameFix(tag.Name) == "write "+sourcetext.Literal(tag.Name) && tag.Name != "" {
		name = tag.Name
	}
	fix := fmt.Sprintf(`write action="%s/%s" method="post"`, formsAction, name)
	at, below, ours := strings.Cut(tag.Action, reserved)
	switch {
	case tag.Action == "": // another site's
	case ours && at == "" && (below == "sign-in" || below == "sign-out"):
	case ours && at == "":
		c.add(diagnostic.CodeFormUnreachable,
			fmt.Sprintf("the form is sent to %s, which does not exist: the platform refuses it with "+
				"404", sourcetext.Quote(tag.Action)), fix)
	case ours:
		c.add(diagnostic.CodeFormUnreachable,
			fmt.Sprintf("the form is sent to %s: its action is relative to the page", sourcetext.Quote(tag.Action)),
			"begin the action with a slash: "+fix)
	case c.site.Takes(tag.Action):
	case tag.Host != "":
		c.add(diagnostic.CodeFormUnreachable,
			fmt.Sprintf("%s does not collect forms here: the form is sent to %s, which takes no posts",
				sourcetext.Quote(tag.Host), sourcetext.Quote(tag.Action)), fix)
	case tag.Sent && tag.Written && tag.Action != "/"+tag.File:
		c.add(diagnostic.CodeFormUnreachable,
			fmt.Sprintf("the form is sent to %s, which no Worker answers: it is refused", sourcetext.Quote(tag.Action)),
			fix+`, or list the path in "routes" for the Worker to answer`)
	}
}

// sent finds the content that a form for the platform loses in its post.
func (c *check) sent(tag htmlforms.Tag) {
	switch {
	case tag.Encoding == "text/plain":
		c.add(diagnostic.CodeFormEncoding,
			`the form is sent as text/plain, which the platform refuses with 415`, "remove the enctype")
	case tag.Files && tag.Encoding != "multipart/form-data":
		c.add(diagnostic.CodeFormEncoding,
			"the form has a file field, and sends only the names of the files", `add enctype="multipart/form-data"`)
	}
	if tag.Unnamed > 0 {
		msg := diagnostic.Plural(tag.Unnamed, "field") + " of the form have no name: browsers do not send them"
		if tag.Unnamed == 1 {
			msg = "a field of the form has no name: browsers do not send it"
		}
		c.add(diagnostic.CodeFormUnnamed, msg, "add name=\"…\" to each")
	}
	if msg, fix := c.nextFault(strings.TrimSpace(tag.Next)); msg != "" {
		c.add(diagnostic.CodeFormNext, msg, fix)
	}
}

// nextFault returns the fault in the value of a field "_next", and the fix; "" for a good value.
func (c *check) nextFault(next string) (msg, fix string) {
	const example = `write the path of a page of this site, such as "/thanks"`
	u, err := url.Parse(next)
	switch {
	case next == "":
		return "", ""
	case err != nil:
		return fmt.Sprintf("the field \"_next\" is %s, which is not an address: it is ignored", sourcetext.Quote(next)), example
	case u.Host != "" || u.Scheme != "":
		return fmt.Sprintf("the field \"_next\" leads to %s: it works only if that is this site's own address",
			sourcetext.Quote(next)), "write " + sourcetext.Literal(cmp.Or(u.EscapedPath(), "/"))
	case !strings.HasPrefix(next, "/"):
		return fmt.Sprintf("the field \"_next\" is %s, which is relative: it is ignored", sourcetext.Quote(next)),
			"write " + sourcetext.Literal("/"+strings.TrimLeft(next, "./"))
	}
	target, fault := sitepath.CanonicalPath(u.Path)
	if fault != "" || sitepath.ReservedPath(target) != "" || c.site.Shows(target) {
		return "", "" // a Worker, or the platform, may answer
	}
	return fmt.Sprintf("the field \"_next\" leads to %s, which is not a page of the site", sourcetext.Quote(next)), example
}
