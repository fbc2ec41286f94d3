package toolapi

import (
	"net/http"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
)

// Endpoint is the definition of an endpoint other than a tool. Interface description and service
// use it.
type Endpoint struct {
	Name        string // in log and audit trail, such as "pages.declare"
	Method      string // of HTTP
	Path        string // variable parts are in braces, such as "/api/v1/pages/uploads/{upload_id}"
	Title       string
	Description string
	Keyed       bool // it takes an Idempotency-Key
	Sends       bool // it counts against the rate limit of uploads instead of tools

	query    []parameter
	headers  []parameter
	body     []content
	required bool // the body
	results  []outcome
	refuses  []int // statuses besides those of its family
	of       family
}

// parameter is one of the query or of the headers.
type parameter struct {
	name, description string
	required          bool
	schema            *jsonschema.Schema
}

// content is a body by its media type.
type content struct {
	kind   string
	schema *jsonschema.Schema
}

// outcome is a response other than a refusal.
type outcome struct {
	status      int
	description string
	content     content
}

// Match reports whether a path, as sent, matches the endpoint, and returns its variable parts
// without decoding them.
func (e *Endpoint) Match(path string) (values []string, ok bool) {
	parts, sent := strings.Split(e.Path, "/"), strings.Split(path, "/")
	if len(parts) != len(sent) {
		return nil, false
	}
	for i, part := range parts {
		switch {
		case strings.HasPrefix(part, "{"):
			values = append(values, sent[i])
		case part != sent[i]:
			return nil, false
		}
	}
	return values, true
}

// PagesEndpoints returns the endpoints of uploads, imports, preview links and revisions, with the
// refusals of section 7.3 of the platform document.
func PagesEndpoints() []Endpoint {
	return append(uploadEndpoints(), revisionEndpoints()...)
}

// Statuses of refusals, in short.
const (
	missing, conflict, expired, tooLarge = http.StatusNotFound, http.StatusConflict, http.StatusGone, http.StatusRequestEntityTooLarge
	mediaType, unfit, slow               = http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity, http.StatusRequestTimeout
	full, away                           = http.StatusInsufficientStorage, http.StatusServiceUnavailable
)

func inJSON(s *jsonschema.Schema) content { return content{"application/json", s} }

// siteQuery names the site of a request without a body.
func siteQuery() []parameter {
	return []parameter{
		{"site_id", "The site.", true, &jsonschema.Schema{Type: "string", Format: "uuid"}},
		{"workspace", "Slug of the workspace; the default one when omitted.", false, &jsonschema.Schema{Type: "string"}},
	}
}

func uploadEndpoints() []Endpoint {
	declared, stored := inJSON(schemaOf[Upload]()), inJSON(schemaOf[Stored]())
	return []Endpoint{
		{
			Name: "pages.declare", Method: http.MethodPost, Path: UploadsPath, Title: "Declare a bundle", Keyed: true,
			Description: "Lists the files of a site. The response lists the blobs that the workspace lacks. The " +
				"same bundle gets the same upload again. When the limit of open uploads is reached, the one that has been " +
				"idle for longest is dropped, and counts as expired.",
			body: []content{inJSON(bodies().declare)}, required: true,
			results: []outcome{{http.StatusCreated, "A new upload.", declared}, {http.StatusOK, "The existing upload.", declared}},
			refuses: []int{missing, slow, conflict, tooLarge, unfit, away, full}, of: pagesFamily,
		},
		{
			Name: "pages.upload_status", Method: http.MethodGet, Path: UploadPath("{upload_id}"),
			Title: "Read the progress of an upload", Sends: true,
			Description: "Returns the blobs that are still missing, to resume an interrupted upload.",
			results:     []outcome{{http.StatusOK, "The upload.", declared}},
			refuses:     []int{missing, expired, unfit, away}, of: pagesFamily,
		},
		{
			Name: "pages.uploads", Method: http.MethodGet, Path: UploadsPath, Title: "List uploads that are not finalized",
			Description: "Lists all uploads of a site that are not finalized, longest idle first.",
			query:       siteQuery(),
			results:     []outcome{{http.StatusOK, "The uploads.", inJSON(schemaOf[UploadList]())}},
			refuses:     []int{missing, unfit, away}, of: pagesFamily,
		},
		{
			Name: "pages.cancel_upload", Method: http.MethodDelete, Path: UploadPath("{upload_id}"), Title: "Cancel an upload",
			Description: "Removes an upload that is not finalized: your own, or any if you may publish.",
			results:     []outcome{{http.StatusNoContent, "Removed.", content{}}},
			refuses:     []int{missing, conflict, expired, unfit, away, full}, of: pagesFamily,
		},
		{
			Name: "pages.has_blob", Method: http.MethodHead, Path: BlobPath("{upload_id}", "{sha256}"),
			Title: "Ask for a blob", Sends: true,
			Description: "Returns whether the workspace has a blob that the upload lists.",
			results:     []outcome{{http.StatusOK, "The blob exists.", content{}}},
			refuses:     []int{missing, expired, unfit, away}, of: headFamily,
		},
		{
			Name: "pages.send_blob", Method: http.MethodPut, Path: BlobPath("{upload_id}", "{sha256}"), Title: "Send a blob", Sends: true,
			Description: "Verifies the bytes by the SHA-256 in the address, and stores them. They may be " +
				"sent as one gzip member, with Content-Encoding: gzip.",
			body: []content{{kind: "application/octet-stream"}, {kind: "*/*"}},
			headers: []parameter{{"Content-Encoding", "gzip, or none.", false, &jsonschema.Schema{
				Type: "string", Enum: []any{"gzip", "identity"},
			}}},
			results: []outcome{{http.StatusCreated, "Stored.", stored}, {http.StatusOK, "The blob already existed.", stored}},
			refuses: []int{
				missing, slow, conflict, expired, http.StatusLengthRequired, tooLarge, mediaType, unfit, away, full,
			}, of: pagesFamily,
		},
		{
			Name: "pages.finalize", Method: http.MethodPost, Path: FinalizePath("{upload_id}"), Title: "Finalize an upload", Keyed: true,
			Description: "Creates a revision from an upload with all its blobs. It is on disk before the response, " +
				"and visible after page.publish.",
			body:    []content{inJSON(bodies().empty)},
			results: []outcome{{http.StatusOK, "The revision.", inJSON(schemaOf[Finalized]())}},
			refuses: []int{missing, slow, conflict, expired, tooLarge, unfit, away, full}, of: pagesFamily,
		},
	}
}

// revisionEndpoints are those that need no upload.
func revisionEndpoints() []Endpoint {
	site := siteQuery()
	imported := inJSON(schemaOf[Imported]())
	return []Endpoint{
		{
			Name: "pages.import", Method: http.MethodPost, Path: ImportsPath, Title: "Import an archive", Keyed: true,
			Description: "Creates a revision from a zip or a gzipped tar with pages.deploy.json and the files.",
			query:       site, body: []content{{kind: "application/zip"}, {kind: "application/gzip"}}, required: true,
			headers: []parameter{{
				"Repr-Digest", "SHA-256 of the archive (RFC 9530), which the service verifies.", false,
				&jsonschema.Schema{Type: "string"},
			}},
			results: []outcome{{http.StatusCreated, "A new revision.", imported}, {
				http.StatusOK, "The existing revision.", imported,
			}},
			refuses: []int{missing, slow, tooLarge, mediaType, unfit, away, full}, of: importsFamily,
		},
		{
			Name: "pages.preview", Method: http.MethodPost, Path: PreviewLinksPath, Title: "Create a preview link", Keyed: true,
			Description: "Creates an address that shows a revision to everyone who has the link, until it expires.",
			body:        []content{inJSON(bodies().preview)}, required: true,
			results: []outcome{{
				http.StatusCreated, "The link, which is shown only once.", inJSON(schemaOf[PreviewLink]()),
			}}, refuses: []int{missing, slow, conflict, tooLarge, unfit, away, full}, of: pagesFamily,
		},
		{
			Name: "pages.revoke_preview", Method: http.MethodDelete, Path: PreviewLinkPath("{preview_id}"), Title: "Revoke a preview link",
			Description: "Revokes a preview link, or removes a named preview with its data and the links to its revisions.",
			results:     []outcome{{http.StatusNoContent, "Revoked.", content{}}},
			refuses:     []int{missing, unfit, away, full}, of: pagesFamily,
		},
		{
			Name: "pages.named_preview", Method: http.MethodPost, Path: PreviewsPath, Title: "Show a revision under a name",
			Description: "Creates a named preview, or shows another revision in it: its migrations run, and its Worker " +
				"starts, before the response. Its address and its data stay from revision to revision.",
			body: []content{inJSON(bodies().named)}, required: true,
			results: []outcome{
				{http.StatusCreated, "A new preview.", inJSON(schemaOf[DeployedPreview]())},
				{http.StatusOK, "The existing preview, with the revision.", inJSON(schemaOf[DeployedPreview]())},
			},
			refuses: []int{missing, slow, conflict, tooLarge, unfit, away, full}, of: pagesFamily,
		},
		{
			Name: "pages.previews", Method: http.MethodGet, Path: PreviewsPath, Title: "List previews",
			Description: "Lists the named previews of a site, and its unnamed preview links.",
			query:       site, results: []outcome{{http.StatusOK, "The previews.", inJSON(schemaOf[PreviewList]())}},
			refuses: []int{missing, unfit, away}, of: pagesFamily,
		},
		{
			Name: "pages.revision", Method: http.MethodGet, Path: RevisionPath("{revision}"), Title: "Read a revision", Sends: true,
			Description: "Returns the manifest and the files of a revision.",
			query:       site, results: []outcome{{http.StatusOK, "The revision.", inJSON(schemaOf[Revision]())}},
			refuses: []int{missing, unfit, away}, of: pagesFamily,
		},
	}
}

// otherEndpoints are the endpoint of MCP and those without a key.
func otherEndpoints() []Endpoint {
	text := func(kind string) content { return content{kind, &jsonschema.Schema{Type: "string"}} }
	anything := &jsonschema.Schema{Type: "object"}
	rpc := schemaOf[rpcAnswer]()
	messages := inJSON(&jsonschema.Schema{
		OneOf: []*jsonschema.Schema{anything, {Type: "array", Items: &jsonschema.Schema{}, MaxItems: new(MaxBatch)}},
	})
	answers := inJSON(&jsonschema.Schema{OneOf: []*jsonschema.Schema{rpc, {Type: "array", Items: rpc}}})
	return []Endpoint{
		{
			Name: "mcp", Method: http.MethodPost, Path: MCPPath, Title: "Speak MCP",
			Description: "The same tools over the Model Context Protocol: one JSON-RPC message, or an array of them " +
				"in revision 2025-03-26. A request refused at the boundary gets an Error; others get JSON-RPC.",
			body: []content{messages}, required: true,
			headers: []parameter{{"MCP-Protocol-Version", "The revision of the protocol.", false, &jsonschema.Schema{Type: "string"}}},
			results: []outcome{
				{http.StatusOK, "The response, or one for each request of an array.", answers},
				{http.StatusAccepted, "No response is needed.", content{}},
			},
			refuses: []int{http.StatusUnsupportedMediaType}, of: mcpFamily,
		},
		{
			Name: "health", Method: http.MethodGet, Path: HealthPath, Title: "Check the service",
			Description: "Reads from the database.",
			results: []outcome{{http.StatusOK, "It can.", inJSON(schemaOf[struct {
				OK True `json:"ok"`
			}]())}}, refuses: []int{http.StatusServiceUnavailable}, of: openFamily,
		},
		{
			Name: "metrics", Method: http.MethodGet, Path: MetricsPath, Title: "Read the counts",
			Description: "In the text format of Prometheus.",
			results:     []outcome{{http.StatusOK, "The counts.", text("text/plain")}}, of: openFamily,
		},
		{
			Name: "openapi", Method: http.MethodGet, Path: OpenAPIPath, Title: "Read this document",
			Description: "The interface description.",
			results:     []outcome{{http.StatusOK, "The document.", inJSON(anything)}}, of: openFamily,
		},
		{
			Name: "deprecations", Method: http.MethodGet, Path: DeprecationsPath, Title: "Read the deprecations",
			Description: "A page for people.",
			results:     []outcome{{http.StatusOK, "The page.", text("text/html")}}, of: openFamily,
		},
	}
}

// rpcAnswer is a JSON-RPC response. Its name is part of the interface description.
type rpcAnswer struct {
	Version string `json:"jsonrpc"`
	ID      any    `json:"id"`
	Result  any    `json:"result,omitempty"`
	Error   any    `json:"error,omitempty"`
}

// Stored is the response to a blob that was sent.
type Stored struct {
	OK     True   `json:"ok"`
	SHA256 string `json:"sha256"`
	Size   int64  `json:"size"`
}
