package project

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/mail"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// PersonasFile lists further personas, besides the three of every site. Its form:
//
//	[{"key": "ada", "email": "ada@example.test", "name": "Ada", "outsider": false, "id": "usr_7"}]
//
// key and email are needed. A persona with the key of another one replaces it.
const PersonasFile = ".pages/members.json"

// PersonasPath returns the path of that file for the site in dir.
func PersonasPath(dir string) string { return filepath.Join(dir, filepath.FromSlash(PersonasFile)) }

var personaKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`) })

// personaEntry is an entry of the file.
type personaEntry struct {
	Key      string `json:"key"`
	Email    string `json:"email"`
	Name     string `json:"name"`
	ID       string `json:"id"`
	Outsider bool   `json:"outsider"`
}

// ReadPersonas returns the personas of a site, or the error in its file. Without a site, dir is "" and the personas are the defaults.
func ReadPersonas(dir string) ([]site.Persona, *diagnostic.Diagnostic) {
	list := site.DefaultPersonas()
	if dir == "" {
		return list, nil
	}
	text, err := userfile.ReadRegular(PersonasPath(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return list, nil
	}
	if err != nil {
		return nil, refusePersonas(text, 0, failure.Reason(err))
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if t, err := d.Token(); err != nil || t != json.Delim('[') {
		return nil, refusePersonas(text, 0, "this is not a list of personas")
	}
	for d.More() {
		at := len(text) - len(bytes.TrimLeft(text[d.InputOffset():], ", \t\r\n"))
		var e personaEntry
		if err := d.Decode(&e); err != nil {
			if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
				at = int(syntax.Offset)
			}
			return nil, refusePersonas(text, at, strings.TrimPrefix(err.Error(), "json: "))
		}
		if wrong := e.check(); wrong != "" {
			return nil, refusePersonas(text, at, wrong)
		}
		p := site.Persona{Key: e.Key, Outsider: e.Outsider, Member: site.Member{
			ID: cmp.Or(e.ID, "usr_dev_"+e.Key), Email: e.Email, Name: cmp.Or(e.Name, e.Key),
		}}
		list = append(slices.DeleteFunc(list, func(other site.Persona) bool { return other.Key == p.Key }), p)
	}
	_, closed := d.Token()
	_, end := d.Token()
	if closed != nil || !errors.Is(end, io.EOF) {
		return nil, refusePersonas(text, int(d.InputOffset()), "the list of personas is not closed, or more text follows it")
	}
	for i, p := range list { // two personas with the same email or name
		for _, other := range list[:i] {
			if strings.EqualFold(p.Email, other.Email) || p.ID == other.ID {
				return list, refusePersonas(text, max(bytes.LastIndex(text, []byte(p.Email)), 0),
					fmt.Sprintf("the personas %q and %q have one email or one id", other.Key, p.Key))
			}
		}
	}
	return list, nil
}

// check describes the error in an entry; "" for none.
func (e personaEntry) check() string {
	address, err := mail.ParseAddress(e.Email)
	switch {
	case !personaKey().MatchString(e.Key):
		return fmt.Sprintf("the key of a persona is 1 to 64 lower-case letters, digits, \"-\" and \"_\", and not %q", e.Key)
	case e.Key == string(site.VisitorSignedOut):
		return fmt.Sprintf("the key %q belongs to no persona", e.Key)
	case err != nil || address.Address != e.Email:
		return fmt.Sprintf("the email of the persona %q is %q; it must be one such as robin@example.test", e.Key, e.Email)
	}
	return ""
}

// refusePersonas points at a byte of the file.
func refusePersonas(text []byte, offset int, why string) *diagnostic.Diagnostic {
	before := string(text[:min(max(offset, 0), len(text))])
	line := before[strings.LastIndexByte(before, '\n')+1:]
	column := len([]rune(line)) + 1
	at := strings.Count(before, "\n") + 1
	return &diagnostic.Diagnostic{
		Severity: diagnostic.Error, Code: "personas-invalid", File: PersonasFile, Message: why,
		Line: at, Column: column, EndLine: at, EndColumn: column + 1,
		Fix: `write [{"key": "ada", "email": "ada@example.test", "name": "Ada"}]; "outsider": true is for a person who is not a member`,
	}
}

// PersonaOf finds a persona of a site by key.
func PersonaOf(dir, key string) (site.Persona, bool) {
	list := personasOrDefault(dir)
	if i := slices.IndexFunc(list, func(p site.Persona) bool { return p.Key == key }); i >= 0 {
		return list[i], true
	}
	return site.Persona{}, false
}

// PersonaKeys returns the keys of a site's personas; of the default ones if its file is refused.
func PersonaKeys(dir string) (keys []string) {
	for _, p := range personasOrDefault(dir) {
		keys = append(keys, p.Key)
	}
	return keys
}

func personasOrDefault(dir string) []site.Persona {
	list, refusal := ReadPersonas(dir)
	if refusal != nil {
		return site.DefaultPersonas()
	}
	return list
}
