package toolapi

import "net/http"

// This file is the table of refusal codes: those of the boundary with their HTTP
// statuses (platform document, section 7.1), and those of tools, which are all
// answered with 200 (section 7.2). Codes are stable; messages are not.

// Codes of the boundary.
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

// Status is the HTTP status of a boundary code; an unknown code is a fault of the
// service.
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

// Codes that any tool may refuse with.
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
	CodeCursorInvalid      = "cursor_invalid"
	CodeSiteUnknown        = "site_unknown"
	CodeDomainUnknown      = "domain_unknown"
	CodeDomainOfPage       = "domain_belongs_to_page"
	CodeDomainThere        = "domain_already_there"
	CodeDomainTaken        = "domain_taken"
	CodeDomainUnproven     = "domain_unproven"
	CodeDomainLookup       = "domain_lookup_failed"
	CodeTooManyDomains     = "too_many_domains"
	CodeTooManySites       = "too_many_pages"
	CodeNoRevision         = "page_has_no_revision"
	CodeRevisionUnknown    = "revision_unknown"
	CodeRevisionLive       = "revision_already_live"
	CodeRevisionDamaged    = "revision_damaged"
	CodeSchemaAhead        = "schema_ahead"
	CodeMigrationFailed    = "migration_failed"
	CodeWorkerFailed       = "worker_failed"
	CodeSecretUnknown      = "secret_unknown"
	CodeNotScheduled       = "page_not_scheduled"
	CodeScheduleTooSoon    = "schedule_too_soon"
	CodeScheduleTooFar     = "schedule_too_far"
	CodeBoardUnknown       = "board_unknown"
	CodeDraftMoved         = "draft_moved"
	CodeNothingToUndo      = "nothing_to_undo"
	CodeNothingToRedo      = "nothing_to_redo"
	CodeNothingToDiscard   = "nothing_to_discard"
	CodeTileUnknown        = "tile_unknown"
	CodeTileTried          = "tile_already_tried"
	CodeTilesExhausted     = "tiles_exhausted"
	CodeWeekUnknown        = "week_unknown"
	CodeAssetUnknown       = "asset_unknown"
	CodeAssetIsNoVariant   = "asset_is_no_variant"
	CodeAssetAlreadyJudged = "asset_already_decided"
)
