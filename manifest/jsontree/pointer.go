package jsontree

import (
	"strconv"
	"strings"
)

// Pointer is a JSON Pointer (RFC 6901) into the manifest; the empty pointer is the whole document.
type Pointer string

// Key returns the pointer to a member of the object p points at.
func (p Pointer) Key(name string) Pointer {
	if strings.ContainsAny(name, "~/") {
		name = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return p + "/" + Pointer(name)
}

// Index returns the pointer to an item of the array p points at.
func (p Pointer) Index(i int) Pointer {
	return p + "/" + Pointer(strconv.Itoa(i))
}

// Parent splits off the last token.
func (p Pointer) Parent() (parent Pointer, last string) {
	i := strings.LastIndexByte(string(p), '/')
	if i < 0 {
		return "", ""
	}
	return p[:i], string(p[i+1:])
}

// Label is how messages name what p points at: "cpuMs", "secrets[2]", "the manifest".
func (p Pointer) Label() string {
	parent, last := p.Parent()
	if last == "" {
		return "the manifest"
	}
	if _, err := strconv.Atoi(last); err == nil {
		_, list := parent.Parent()
		return list + "[" + last + "]"
	}
	return last
}

// Kind is p with every index replaced by "*", which names the rule that holds there.
func (p Pointer) Kind() string {
	parts := strings.Split(string(p), "/")
	for i, part := range parts {
		if _, err := strconv.Atoi(part); err == nil {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}
