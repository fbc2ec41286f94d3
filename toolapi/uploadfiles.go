package toolapi

import (
	"encoding/json"
	"strconv"
)

// This file encodes lists of files, which have thousands of entries: encoding/json takes five times as long.

// Encode returns the arguments as JSON.
func (a DeclareArgs) Encode() ([]byte, error) {
	type all DeclareArgs
	text, err := json.Marshal(struct {
		all
		Files *struct{} `json:"files,omitempty"` // takes the place of the list
	}{all: all(a)})
	if err != nil {
		return nil, err
	}
	list := text[: len(text)-1 : len(text)-1]
	text = make([]byte, 0, len(text)+FilesLength(a.Files))
	text = AppendFiles(append(append(text, list...), `,"files":`...), a.Files)
	return append(text, '}'), nil
}

// FilesLength estimates the length of a list as JSON, in bytes, usually from above.
func FilesLength(files []UploadFile) int {
	n := len(`,"files":[]}`)
	for _, f := range files {
		n += len(`{"path":"","sha256":"","size":00000000,"content_type":""},`) + len(f.Path) + len(f.SHA256) + len(f.ContentType)
	}
	return n
}

// AppendFiles appends a list of files as JSON, byte for byte as encoding/json writes it.
func AppendFiles(to []byte, files []UploadFile) []byte {
	to = append(to, '[')
	for i, f := range files {
		if i > 0 {
			to = append(to, ',')
		}
		to = appendString(append(to, `{"path":`...), f.Path)
		to = appendString(append(to, `,"sha256":`...), string(f.SHA256))
		to = strconv.AppendInt(append(to, `,"size":`...), int64(f.Size), 10)
		if f.ContentType != "" {
			to = appendString(append(to, `,"content_type":`...), string(f.ContentType))
		}
		to = append(to, '}')
	}
	return append(to, ']')
}

// appendString appends a string as encoding/json writes it.
func appendString(to []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			quoted, err := json.Marshal(s)
			if err != nil {
				panic(err) // of a string
			}
			return append(to, quoted...)
		}
	}
	to = append(to, '"')
	to = append(to, s...)
	return append(to, '"')
}
