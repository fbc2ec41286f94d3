package editor

import (
	"bytes"
	"slices"

	"github.com/tailscale/hujson"
)

// AddMember adds a member to the object at keys in a file of JSON with comments, and makes the objects on the way. A member of that name
// stays as it is. An empty source is that of a new file. The error is a *SettingsError.
func AddMember(src []byte, keys []string, name string, value any) ([]byte, error) {
	const unit = "  "
	nested := func(keys []string) any {
		whole := value
		for _, key := range slices.Backward(keys) {
			whole = map[string]any{key: whole}
		}
		return whole
	}
	path := append(slices.Clone(keys), name)
	if len(bytes.TrimSpace(src)) == 0 {
		return encode(nested(path), "", unit), nil
	}
	root, err := parseJSON(src)
	if err != nil {
		return nil, err
	}
	list, at := jsonList{unit: unit}, &root
	for i, key := range path {
		object, ok := at.Value.(*hujson.Object)
		if !ok {
			return nil, list.shapeError(at, path[:i], "an object")
		}
		member := lastMember(object, key)
		if member == nil {
			return list.insert(src, root, at, key, nested(path[i+1:]))
		}
		at = member
	}
	return src, nil
}
