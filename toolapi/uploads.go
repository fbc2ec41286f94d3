package toolapi

import (
	"encoding/json"
	"sync"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pages-toolchain/pages/manifest/limits"
)

// Paths of the endpoints of uploads, imports, preview links and revisions: plain HTTP beside the
// tools, with the refusals of section 7.3 (PagesError). A client declares a bundle, sends the blobs
// that the workspace lacks, and finalizes; page.publish makes the revision visible.
const (
	// UploadsPath takes POST, and GET with site_id and workspace in the query; an upload is at UploadsPath + "/" + its id.
	UploadsPath = "/api/v1/pages/uploads"
	// ImportsPath takes POST with an archive, and site_id and workspace in the query.
	ImportsPath = "/api/v1/pages/imports"
	// PreviewLinksPath takes POST; DELETE with "/" + the id of a link.
	PreviewLinksPath = "/api/v1/pages/preview-links"
	// RevisionsPath takes GET with "/" + a revision, and site_id and workspace in the query.
	RevisionsPath = "/api/v1/pages/revisions"
)

// UploadPath accepts GET for the status of an upload, and DELETE to cancel it.
func UploadPath(id string) string { return UploadsPath + "/" + id }

// BlobPath takes PUT with a blob of an upload, and HEAD.
func BlobPath(id, sha256 string) string { return UploadPath(id) + "/blobs/" + sha256 }

// FinalizePath takes POST with the body {}.
func FinalizePath(id string) string { return UploadPath(id) + "/finalize" }

// PreviewLinkPath takes DELETE to revoke a preview link.
func PreviewLinkPath(id string) string { return PreviewLinksPath + "/" + id }

// RevisionPath accepts GET for the contents of a revision.
func RevisionPath(revision string) string { return RevisionsPath + "/" + revision }

// Limits of bundles and uploads.
const (
	MaxFileBytes    = limits.MaxFileBytes
	MaxFiles        = limits.MaxFiles       // of a bundle
	MaxBundleBytes  = limits.MaxBundleBytes // of all files together
	MaxDeclareBytes = 8 << 20               // of the body of a declare
	MaxWorkerBytes  = 10 << 20              // of the Worker's module
	MaxParallel     = 8                     // blobs that a client sends at once
	MaxOpenUploads  = 10                    // of one site
	MaxArchiveBytes = 100 << 20             // of an import
	MaxExpanded     = 512 << 20             // of all its entries

	MinPreviewSeconds     = 60
	MaxPreviewSeconds     = 604_800
	DefaultPreviewSeconds = 86_400
)

// DeclareArgs is the body of a declare.
type DeclareArgs struct {
	SiteID       UUID            `json:"site_id" jsonschema:"the site that the bundle is for"`
	BaseRevision BaseRevision    `json:"base_revision,omitzero" jsonschema:"the expected live revision; null: the page was never published; omit it for no check"`
	Manifest     json.RawMessage `json:"manifest" jsonschema:"pages.deploy.json, which is not listed in files"`
	Files        []UploadFile    `json:"files" jsonschema:"every file of the bundle"`
	Client       *UploadClient   `json:"client,omitempty" jsonschema:"the uploading program"`
	Scope
}

// UploadFile is a file of a bundle.
type UploadFile struct {
	// Path is relative to the bundle root, in Unicode NFC.
	Path   string  `json:"path" jsonschema:"relative to the bundle root"`
	SHA256 Digest  `json:"sha256" jsonschema:"of the bytes, in lower-case hexadecimal"`
	Size   Counter `json:"size" jsonschema:"in bytes"`
	// ContentType is sent with the file. Default that of its name.
	ContentType MediaType `json:"content_type,omitempty" jsonschema:"the Content-Type of the file; derived from its name when omitted"`
}

// UploadClient names the program that uploads.
type UploadClient struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// BaseRevision is a revision, none (null), or not given (the zero value).
type BaseRevision struct {
	Given    bool
	Revision string // "" for null
}

// Expect returns the base revision of a client that knows the live revision, "" for none.
func Expect(revision string) BaseRevision { return BaseRevision{true, revision} }

// MarshalJSON implements json.Marshaler.
func (b BaseRevision) MarshalJSON() ([]byte, error) {
	if b.Revision == "" {
		return []byte("null"), nil
	}
	return json.Marshal(b.Revision)
}

// UnmarshalJSON implements json.Unmarshaler.
func (b *BaseRevision) UnmarshalJSON(text []byte) error {
	*b = BaseRevision{Given: true}
	return json.Unmarshal(text, &b.Revision) // null leaves it empty
}

// UploadState is the state of an upload. A cancelled or expired upload is a refusal.
type UploadState string

// The states of an upload.
const (
	UploadOpen      UploadState = "open"
	UploadComplete  UploadState = "complete" // all blobs are stored
	UploadFinalized UploadState = "finalized"
)

// Upload is the response to declare and to status.
type Upload struct {
	Success
	UploadID     string       `json:"upload_id"`
	State        UploadState  `json:"state"`
	BundleDigest string       `json:"bundle_digest" jsonschema:"\"sha256:\" and the digest of manifest and files"`
	Required     []string     `json:"required" jsonschema:"the blobs to send, sorted, each once"`
	Files        int          `json:"files"`
	Bytes        int64        `json:"bytes" jsonschema:"of all files"`
	MissingBytes int64        `json:"missing_bytes" jsonschema:"of the blobs to send"`
	ExpiresAt    string       `json:"expires_at" jsonschema:"when the upload expires, unless a client uses it"`
	Limits       UploadLimits `json:"limits"`
	Revision     string       `json:"revision,omitempty" jsonschema:"the revision that it became"`
}

// UploadLimits bind a client.
type UploadLimits struct {
	MaxParallel  int   `json:"max_parallel"`
	MaxFileBytes int64 `json:"max_file_bytes"`
}

// UploadList lists the uploads of a site that are not finalized, the longest idle first.
type UploadList struct {
	Success
	SiteID  string       `json:"site_id"`
	Uploads []OpenUpload `json:"uploads" jsonschema:"longest idle first: the first one is dropped for a new upload at the limit"`
	Most    int          `json:"most" jsonschema:"the limit of open uploads"`
}

// OpenUpload is an upload that is not finalized.
type OpenUpload struct {
	UploadID  string `json:"upload_id"`
	By        string `json:"by" jsonschema:"the name of its owner"`
	Files     int    `json:"files"`
	Bytes     int64  `json:"bytes" jsonschema:"of all files"`
	CreatedAt string `json:"created_at"`
	UsedAt    string `json:"used_at" jsonschema:"when it was used last"`
	ExpiresAt string `json:"expires_at" jsonschema:"when it expires, unless a client uses it"`
	Sending   bool   `json:"sending" jsonschema:"whether a client is sending to it now"`
}

// Finalized is the response to finalize: a revision that is ready and durable.
type Finalized struct {
	Success
	Revision       string `json:"revision"`
	State          string `json:"state" jsonschema:"ready"`
	Files          int    `json:"files"`
	Bytes          int64  `json:"bytes"`
	CreatedAt      string `json:"created_at"`
	AlreadyExisted bool   `json:"already_existed" jsonschema:"true: the site already had this bundle as a revision"`
}

// Imported is the response to an import.
type Imported struct {
	Finalized
	BundleDigest string `json:"bundle_digest"`
}

// Revision is the contents of a revision.
type Revision struct {
	Success
	SiteID       string          `json:"site_id"`
	Revision     string          `json:"revision"`
	BundleDigest string          `json:"bundle_digest"`
	Live         bool            `json:"live" jsonschema:"whether the page serves it"`
	CreatedAt    string          `json:"created_at"`
	Manifest     json.RawMessage `json:"manifest" jsonschema:"as it was uploaded, in canonical form"`
	Files        []UploadFile    `json:"files" jsonschema:"sorted by path"`
	Bytes        int64           `json:"bytes"`
}

// PreviewLinkArgs is the body of a request for a preview link.
type PreviewLinkArgs struct {
	SiteID           UUID           `json:"site_id"`
	Revision         Name           `json:"revision,omitempty" jsonschema:"the newest one when omitted"`
	ExpiresInSeconds PreviewSeconds `json:"expires_in_seconds,omitempty"`
	Scope
}

// PreviewLink shows a revision to everyone who has the link. URL contains the token and is shown only once.
type PreviewLink struct {
	Success
	ID        string `json:"id"`
	URL       string `json:"url" jsonschema:"shown only once"`
	Revision  string `json:"revision"`
	ExpiresAt string `json:"expires_at"`
}

// The named scalars of this file.
type (
	// Digest is a SHA-256 in lower-case hexadecimal.
	Digest string
	// MediaType is the value of a Content-Type header.
	MediaType string
	// PreviewSeconds is the life of a preview link, in seconds; 0 means the default.
	PreviewSeconds int64
)

// CheckDeclare lists the faults in the body of a declare. It only checks that the manifest is an object.
func (o Object) CheckDeclare() []Issue { return check(bodies().declare, o.fields, "") }

// CheckPreviewLink lists the faults in the body of a request for a preview link.
func (o Object) CheckPreviewLink() []Issue { return check(bodies().preview, o.fields, "") }

// CheckEmpty lists the properties of a body that must be an empty object.
func (o Object) CheckEmpty() []Issue { return check(bodies().empty, o.fields, "") }

// bodySchemas are the schemas of request bodies of endpoints other than tools.
type bodySchemas struct{ declare, preview, named, empty *jsonschema.Schema }

var bodies = sync.OnceValue(func() bodySchemas {
	s := bodySchemas{schemaOf[DeclareArgs](), schemaOf[PreviewLinkArgs](), schemaOf[NamedPreviewArgs](), schemaOf[struct{}]()}
	// Types of pointers and slices, whose nil is an absent property.
	client, files := s.declare.Properties["client"], s.declare.Properties["files"]
	client.Type, client.Types = "object", nil
	files.Type, files.Types = "array", nil
	return s
})
