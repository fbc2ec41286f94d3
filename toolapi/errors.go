package toolapi

import (
	"net/http"
)

// Codes of the boundary, whose HTTP statuses Status returns (platform document, section 7.1).
// All codes of this file are stable; messages are not.
const (
	CodeMalformedRequest       = "tenant_api.malformed_request"
	CodeMalformedBody          = "tenant_api.malformed_body"
	CodeBatchTooLarge          = "tenant_mcp.batch_too_large"
	CodeIdempotencyInvalid     = "tenant_api.idempotency_key_invalid"
	CodeIdempotencyConflict    = "tenant_api.idempotency_key_conflict"
	CodeIdempotencyUnsupported = "tenant_api.idempotency_unsupported"
	CodeUnauthorized           = "tenant_api.unauthorized"
	CodeSurfaceDisabled        = "tenant_mcp.surface_disabled"
	CodeAccountDisabled        = "tenant_api.account_disabled"
	CodeAccessMissing          = "tenant_api.access_missing"
	CodeHostRefused            = "tenant_api.host_refused"
	CodeOriginRefused          = "tenant_mcp.origin_refused"
	CodeNotAcceptable          = "tenant_mcp.not_acceptable"
	CodeMediaType              = "tenant_mcp.media_type"
	CodeNotFound               = "tenant_api.not_found"
	CodeMethodNotAllowed       = "tenant_api.method_not_allowed"
	CodeBodyTooLarge           = "tenant_api.body_too_large"
	CodeExpectation            = "tenant_api.expectation_unsupported"
	CodeHeadersTooLarge        = "tenant_api.headers_too_large"
	CodeTransferCoding         = "tenant_api.transfer_coding_unsupported"
	CodeVersion                = "tenant_api.http_version_unsupported"
	CodeRateLimited            = "tenant_mcp.rate_limited"
	CodeInternal               = "tenant_api.internal"
	CodeUnavailable            = "tenant_api.unavailable"
)

// Status returns the HTTP status of a boundary code; 500 for an unknown code.
func Status(code string) int {
	switch code {
	case CodeMalformedRequest, CodeMalformedBody, CodeBatchTooLarge, CodeIdempotencyInvalid,
		CodeIdempotencyConflict, CodeIdempotencyUnsupported, CodeNotAcceptable:
		return http.StatusBadRequest
	case CodeUnauthorized:
		return http.StatusUnauthorized
	case CodeSurfaceDisabled, CodeAccountDisabled, CodeAccessMissing, CodeHostRefused, CodeOriginRefused:
		return http.StatusForbidden
	case CodeNotFound:
		return http.StatusNotFound
	case CodeMethodNotAllowed:
		return http.StatusMethodNotAllowed
	case CodeBodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case CodeMediaType:
		return http.StatusUnsupportedMediaType
	case CodeExpectation:
		return http.StatusExpectationFailed
	case CodeHeadersTooLarge:
		return http.StatusRequestHeaderFieldsTooLarge
	case CodeRateLimited:
		return http.StatusTooManyRequests
	case CodeTransferCoding:
		return http.StatusNotImplemented
	case CodeUnavailable:
		return http.StatusServiceUnavailable
	case CodeVersion:
		return http.StatusHTTPVersionNotSupported
	}
	return http.StatusInternalServerError
}

// Codes that any tool may refuse with. Refusals of tools have the status 200 (section 7.2).
const (
	CodeWorkspaceAmbiguous   = "workspace_ambiguous"
	CodeWorkspaceUnreachable = "workspace_unreachable"
	CodeInvalidArguments     = "invalid_arguments"
	CodePermissionDenied     = "permission_denied"
	CodeIdempotencyReused    = "idempotency_key_reused"
)

// Codes of the two-call protocol.
const (
	CodeConfirmationUnknown     = "confirmation_unknown"
	CodeConfirmationExpired     = "confirmation_expired"
	CodeConfirmationMismatch    = "confirmation_mismatch"
	CodeConfirmationStale       = "confirmation_stale"
	CodeConfirmationNeedsMember = "confirmation_needs_member"
)

// Codes of single tools.
const (
	CodeCursorInvalid       = "cursor_invalid"
	CodeSiteUnknown         = "site_unknown"
	CodeLeadUnknown         = "lead_unknown"
	CodeMemberUnknown       = "member_unknown"
	CodeSettingsUnchanged   = "settings_unchanged"
	CodeDomainUnknown       = "domain_unknown"
	CodeDomainOfPage        = "domain_belongs_to_page"
	CodeDomainThere         = "domain_already_there"
	CodeDomainTaken         = "domain_taken"
	CodeDomainUnproven      = "domain_unproven"
	CodeDomainLookup        = "domain_lookup_failed"
	CodeTooManyDomains      = "too_many_domains"
	CodeTooManySites        = "too_many_pages"
	CodeNoRevision          = "page_has_no_revision"
	CodeRevisionUnknown     = "revision_unknown"
	CodeRevisionLive        = "revision_already_live"
	CodeRevisionDamaged     = "revision_damaged"
	CodeSchemaAhead         = "schema_ahead"
	CodeMigrationFailed     = "migration_failed"
	CodeDataLoss            = "data_loss_not_allowed"
	CodeRestorePointUnknown = "restore_point_unknown"
	CodeRestorePointDamaged = "restore_point_damaged"
	CodeTablesUnfit         = "tables_do_not_fit"
	CodeWorkerFailed        = "worker_failed"
	CodeSecretUnknown       = "secret_unknown"
	CodeNotScheduled        = "page_not_scheduled"
	CodeScheduleTooSoon     = "schedule_too_soon"
	CodeScheduleTooFar      = "schedule_too_far"
	CodeBoardUnknown        = "board_unknown"
	CodeDraftMoved          = "draft_moved"
	CodeNothingToUndo       = "nothing_to_undo"
	CodeNothingToRedo       = "nothing_to_redo"
	CodeNothingToDiscard    = "nothing_to_discard"
	CodeTileUnknown         = "tile_unknown"
	CodeTileTried           = "tile_already_tried"
	CodeTilesExhausted      = "tiles_exhausted"
	CodeWeekUnknown         = "week_unknown"
	CodeAssetUnknown        = "asset_unknown"
	CodeAssetIsNoVariant    = "asset_is_no_variant"
	CodeAssetAlreadyJudged  = "asset_already_decided"
)

// Error is a refusal of the boundary: HTTP 4xx and 5xx (platform document, section 7.1). Nothing ran.
type Error struct {
	OK      False  `json:"ok"`
	Code    string `json:"code" jsonschema:"typed refusal code"`
	Message string `json:"message" jsonschema:"a sentence a person can act on"`

	RetryAfterSeconds Seconds           `json:"retry_after_seconds,omitempty" jsonschema:"on 429, the same as Retry-After"`
	Nested            NestedErrorFields `json:"error" jsonschema:"deprecated: read the fields of the top level"`
}

// NestedErrorFields are the deprecated object of an Error.
type NestedErrorFields struct {
	Code              string  `json:"code"`
	Message           string  `json:"message"`
	RetryAfterSeconds Seconds `json:"retry_after_seconds,omitempty"`
}

// NewError returns the refusal with a code of the boundary.
func NewError(code, message string) *Error {
	return &Error{Code: code, Message: message, Nested: NestedErrorFields{Code: code, Message: message}}
}

// After sets the time until a retry, in seconds.
func (e *Error) After(seconds Seconds) *Error {
	e.RetryAfterSeconds, e.Nested.RetryAfterSeconds = seconds, seconds
	return e
}

func (e *Error) Error() string { return e.Code + ": " + e.Message }

// ToolRefusal is the response to a call that was admitted and did not succeed: HTTP 200 (platform
// document, section 7.2).
type ToolRefusal struct {
	OK      False  `json:"ok"`
	Code    string `json:"code" jsonschema:"typed refusal code"`
	Message string `json:"message" jsonschema:"a sentence a person can act on"`

	Workspaces  []string `json:"workspaces,omitzero" jsonschema:"on a workspace refusal, the slugs that may be passed"`
	Issues      []Issue  `json:"issues,omitempty" jsonschema:"on invalid_arguments, all problems"`
	Path        string   `json:"path,omitempty" jsonschema:"the part of the input at fault"`
	Fix         string   `json:"fix,omitempty" jsonschema:"the change that makes the call pass"`
	Instruction string   `json:"instruction,omitempty" jsonschema:"what to do next"`

	DataLoss []DataLoss `json:"data_loss,omitempty" jsonschema:"on data_loss_not_allowed, the rows and values that would be lost without permission"`
}

// Issue is one fault in the arguments of a call.
type Issue struct {
	Path    string `json:"path" jsonschema:"the argument"`
	Message string `json:"message" jsonschema:"the expected value"`
}

// PagesError is a refusal of uploads, imports and preview links (platform document,
// section 7.3). The nested object is the contract here, and not deprecated.
type PagesError struct {
	OK     False            `json:"ok"`
	Inner  PagesErrorFields `json:"error"`
	Status int              `json:"-"` // of HTTP
}

// PagesErrorFields are the fields of a refused upload. An import has no RetryAfterSeconds, only the header.
type PagesErrorFields struct {
	Code              string  `json:"code"`
	Message           string  `json:"message"`
	RetryAfterSeconds Seconds `json:"retry_after_seconds,omitempty"`
}

// NewPagesError returns the refusal with a code, and the status of that code.
func NewPagesError(code, message string) *PagesError {
	return &PagesError{Inner: PagesErrorFields{Code: code, Message: message}, Status: PagesStatus(code)}
}

// PagesErrorOf returns a refusal of the boundary in the envelope of section 7.3.
func PagesErrorOf(e *Error) *PagesError {
	p := NewPagesError(e.Code, e.Message)
	p.Inner.RetryAfterSeconds = e.RetryAfterSeconds
	return p
}

func (e *PagesError) Error() string { return e.Inner.Code + ": " + e.Inner.Message }

// Codes of uploads, imports and preview links, beside those of the boundary and
// CodeInvalidArguments, CodeWorkspaceAmbiguous, CodeWorkspaceUnreachable,
// CodePermissionDenied and CodeIdempotencyReused.
const (
	CodeDigestMalformed    = "digest_malformed"
	CodeUploadNotFound     = "upload_not_found"
	CodeSiteNotFound       = "site_not_found"
	CodeRevisionNotFound   = "revision_not_found"
	CodePreviewNotFound    = "preview_not_found"
	CodeBlobNotListed      = "blob_not_listed"
	CodeBlobMissing        = "blob_missing" // of HEAD, which has no body
	CodeBlobsMissing       = "blobs_missing"
	CodeRevisionConflict   = "revision_conflict"
	CodeUploadClosed       = "upload_closed"
	CodeTooManyUploads     = "too_many_uploads"
	CodeTooManyPreviews    = "too_many_previews"
	CodeUploadExpired      = "upload_expired"
	CodeLengthRequired     = "length_required"
	CodeFileTooLarge       = "file_too_large"
	CodeBundleTooLarge     = "bundle_too_large"
	CodePagesBodyTooLarge  = "body_too_large"
	CodeEncoding           = "encoding_unsupported"
	CodeManifestInvalid    = "manifest_invalid"
	CodeSecretInOutput     = "secret_in_output"
	CodeFileCount          = "file_count_exceeded"
	CodeSizeMismatch       = "size_mismatch"
	CodeDigestMismatch     = "digest_mismatch"
	CodeEncodingInvalid    = "encoding_invalid"
	CodeFileChanged        = "file_changed_during_upload" // of the client
	CodeBodyTimeout        = "body_timeout"
	CodePagesUnavailable   = "unavailable"
	CodeStorageFull        = "storage_full"
	CodeSeedFailed         = "seed_failed"
	CodeArchiveType        = "archive_type_unsupported"
	CodeArchiveInvalid     = "archive_invalid"
	CodeArchiveEntryType   = "archive_entry_type"
	CodeArchiveDuplicate   = "archive_duplicate"
	CodeArchiveEncrypted   = "archive_encrypted"
	CodeArchiveMethod      = "archive_method"
	CodeArchiveMismatch    = "archive_mismatch" // two parts of it disagree
	CodeArchiveOverlap     = "archive_overlap"
	CodeArchiveRatio       = "archive_ratio"
	CodeArchiveTooLarge    = "archive_too_large" // expanded
	CodeReprDigestMismatch = "repr_digest_mismatch"
)

// PagesStatus returns the HTTP status of a code in a PagesError. Codes that are not listed,
// such as those of path rules, have 422.
func PagesStatus(code string) int {
	switch code {
	case CodeInvalidArguments, CodeDigestMalformed:
		return http.StatusBadRequest
	case CodePermissionDenied:
		return http.StatusForbidden
	case CodeUploadNotFound, CodeSiteNotFound, CodeRevisionNotFound, CodePreviewNotFound, CodeBlobNotListed, CodeBlobMissing:
		return http.StatusNotFound
	case CodeBodyTimeout:
		return http.StatusRequestTimeout
	case CodeBlobsMissing, CodeRevisionConflict, CodeUploadClosed, CodeTooManyUploads, CodeTooManyPreviews:
		return http.StatusConflict
	case CodeUploadExpired:
		return http.StatusGone
	case CodeLengthRequired:
		return http.StatusLengthRequired
	case CodeFileTooLarge, CodeBundleTooLarge, CodePagesBodyTooLarge:
		return http.StatusRequestEntityTooLarge
	case CodeEncoding, CodeArchiveType:
		return http.StatusUnsupportedMediaType
	case CodePagesUnavailable:
		return http.StatusServiceUnavailable
	case CodeStorageFull:
		return http.StatusInsufficientStorage
	}
	if status := Status(code); status != http.StatusInternalServerError || code == CodeInternal {
		return status
	}
	return http.StatusUnprocessableEntity
}
