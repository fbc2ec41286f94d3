package toolapi

import "net/http"

// PagesError is a refusal of uploads, imports and preview links (platform document,
// section 7.3). The nested object is the contract here, and not deprecated.
type PagesError struct {
	OK    False            `json:"ok"`
	Inner PagesErrorFields `json:"error"`
	// Status is the HTTP status.
	Status int `json:"-"`
}

// PagesErrorFields say what was refused. An import has no RetryAfterSeconds: there
// the header alone carries the wait.
type PagesErrorFields struct {
	Code              string  `json:"code"`
	Message           string  `json:"message"`
	RetryAfterSeconds Seconds `json:"retry_after_seconds,omitempty"`
}

// NewPagesError returns the refusal with a code, and the status of that code.
func NewPagesError(code, message string) *PagesError {
	return &PagesError{Inner: PagesErrorFields{Code: code, Message: message}, Status: PagesStatus(code)}
}

// PagesErrorOf is a refusal of the boundary in the envelope of section 7.3.
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
	CodeArchiveType        = "archive_type_unsupported"
	CodeArchiveInvalid     = "archive_invalid"
	CodeArchiveEntryType   = "archive_entry_type"
	CodeArchiveDuplicate   = "archive_duplicate"
	CodeArchiveEncrypted   = "archive_encrypted"
	CodeArchiveMethod      = "archive_method"
	CodeArchiveMismatch    = "archive_mismatch" // of what two parts of it say
	CodeArchiveOverlap     = "archive_overlap"
	CodeArchiveRatio       = "archive_ratio"
	CodeArchiveTooLarge    = "archive_too_large" // expanded
	CodeReprDigestMismatch = "repr_digest_mismatch"
)

// PagesStatus is the HTTP status of a code in a PagesError. Codes that are not listed,
// those of path rules among them, are 422.
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
