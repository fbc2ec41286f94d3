package manifest

import (
	"strconv"
	"strings"
)

// pointer is a JSON Pointer (RFC 6901) into the manifest; the empty pointer is the whole document.
type pointer string

// key returns the pointer to a member of the object p points at.
func (p pointer) key(name string) pointer {
	if strings.ContainsAny(name, "~/") {
		name = strings.NewReplacer("~", "~0", "/", "~1").Replace(name)
	}
	return p + "/" + pointer(name)
}

// index returns the pointer to an item of the array p points at.
func (p pointer) index(i int) pointer {
	return p + "/" + pointer(strconv.Itoa(i))
}

// parent splits off the last token.
func (p pointer) parent() (parent pointer, last string) {
	i := strings.LastIndexByte(string(p), '/')
	if i < 0 {
		return "", ""
	}
	return p[:i], string(p[i+1:])
}

// label is how messages name what p points at: "cpuMs", "secrets[2]", "the manifest".
func (p pointer) label() string {
	parent, last := p.parent()
	if last == "" {
		return "the manifest"
	}
	if _, err := strconv.Atoi(last); err == nil {
		_, list := parent.parent()
		return list + "[" + last + "]"
	}
	return last
}

// kind is p with every index replaced by "*", which names the rule that holds there.
func (p pointer) kind() string {
	parts := strings.Split(string(p), "/")
	for i, part := range parts {
		if _, err := strconv.Atoi(part); err == nil {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}
