package toolapi

import (
	"sync"

	"github.com/google/jsonschema-go/jsonschema"
)

// bodySchemas are the schemas of the bodies that are no tool's arguments.
type bodySchemas struct{ declare, preview, empty *jsonschema.Schema }

var bodies = sync.OnceValue(func() bodySchemas {
	s := bodySchemas{schemaOf[DeclareArgs](), schemaOf[PreviewLinkArgs](), schemaOf[struct{}]()}
	// Of a pointer and a slice, whose nil is a property that is not there.
	client, files := s.declare.Properties["client"], s.declare.Properties["files"]
	client.Type, client.Types = "object", nil
	files.Type, files.Types = "array", nil
	return s
})
