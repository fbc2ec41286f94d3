package project

import (
	"bytes"
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

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// PersonasFile names people one can sign in as, beside the three that every site
// has. Its form:
//
//	[{"key": "ada", "email": "ada@example.test", "name": "Ada", "outsider": false, "id": "usr_7"}]
//
// key and email are needed. One with the key of another takes its place.
const PersonasFile = ".pages/members.json"

// PersonasPath is where that file lies for the site in dir.
func PersonasPath(dir string) string { return filepath.Join(dir, filepath.FromSlash(PersonasFile)) }

var personaKey = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`)

// personaEntry is one entry of the file.
type personaEntry struct {
	Key      string `json:"key"`
	Email    string `json:"email"`
	Name     string `json:"name"`
	ID       string `json:"id"`
	Outsider bool   `json:"outsider"`
}

// ReadPersonas returns the people of a site, or what is wrong with its file. No
// site, "", has those that every site has.
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
		return nil, refusePersonas(text, 0, "this is no list of personas")
	}
	for d.More() {
		at := len(text) - len(bytes.TrimLeft(text[d.InputOffset():], ", \t\r\n"))
		var e personaEntry
		if err := d.Decode(&e); err != nil {
			return nil, refusePersonas(text, offsetOf(err, at), strings.TrimPrefix(err.Error(), "json: "))
		}
		if wrong := e.check(); wrong != "" {
			return nil, refusePersonas(text, at, wrong)
		}
		p := e.persona()
		list = append(slices.DeleteFunc(list, func(other site.Persona) bool { return other.Key == p.Key }), p)
	}
	_, closed := d.Token()
	_, end := d.Token()
	if closed != nil || !errors.Is(end, io.EOF) {
		return nil, refusePersonas(text, int(d.InputOffset()), "the list of personas does not end well")
	}
	return list, checkTwins(text, list)
}

// offsetOf is the byte that an error of JSON is about.
func offsetOf(err error, otherwise int) int {
	if e, ok := errors.AsType[*json.SyntaxError](err); ok {
		return int(e.Offset)
	}
	return otherwise
}

// check says what is wrong with an entry.
func (e personaEntry) check() string {
	address, err := mail.ParseAddress(e.Email)
	switch {
	case !personaKey.MatchString(e.Key):
		return fmt.Sprintf("the key of a persona is 1 to 64 lower-case letters, digits, \"-\" and \"_\", and not %q", e.Key)
	case e.Key == string(site.VisitorSignedOut):
		return fmt.Sprintf("the key %q is for nobody", e.Key)
	case err != nil || address.Address != e.Email:
		return fmt.Sprintf("the persona %q has no email like robin@example.test, but %q", e.Key, e.Email)
	}
	return ""
}

func (e personaEntry) persona() site.Persona {
	p := site.Persona{Key: e.Key, Outsider: e.Outsider, Member: site.Member{ID: e.ID, Email: e.Email, Name: e.Name}}
	if p.ID == "" {
		p.ID = "usr_dev_" + e.Key
	}
	if p.Name == "" {
		p.Name = e.Key
	}
	return p
}

// checkTwins refuses people who could not be told apart.
func checkTwins(text []byte, list []site.Persona) *diagnostic.Diagnostic {
	for i, p := range list {
		for _, other := range list[:i] {
			if strings.EqualFold(p.Email, other.Email) || p.ID == other.ID {
				return refusePersonas(text, max(bytes.LastIndex(text, []byte(p.Email)), 0),
					fmt.Sprintf("the personas %q and %q have one email or one id", other.Key, p.Key))
			}
		}
	}
	return nil
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
		Fix: `write [{"key": "ada", "email": "ada@example.test", "name": "Ada"}]; "outsider": true is for who is no member`,
	}
}

// PersonaOf finds a persona of a site by key.
func PersonaOf(dir, key string) (site.Persona, bool) {
	list, refusal := ReadPersonas(dir)
	if refusal != nil {
		list = site.DefaultPersonas()
	}
	i := slices.IndexFunc(list, func(p site.Persona) bool { return p.Key == key })
	if i < 0 {
		return site.Persona{}, false
	}
	return list[i], true
}

// PersonaKeys lists the keys for a message.
func PersonaKeys(dir string) string {
	list, refusal := ReadPersonas(dir)
	if refusal != nil {
		list = site.DefaultPersonas()
	}
	var keys []string
	for _, p := range list {
		keys = append(keys, p.Key)
	}
	return strings.Join(keys, ", ")
}
