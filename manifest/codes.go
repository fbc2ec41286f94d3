package manifest

import "slices"

// Rule describes a diagnostic code.
type Rule struct {
	Code    string
	Summary string
}

// The codes of this package's diagnostics. They are stable.
const (
	codeSyntax            = "syntax"
	codeFileMissing       = "file-missing"
	codeFileTooLarge      = "file-too-large"
	codeWrongType         = "wrong-type"
	codeMissingKey        = "missing-key"
	codeUnknownKey        = "unknown-key"
	codeDuplicateKey      = "duplicate-key"
	codeSchemaKey         = "schema-key"
	codeStagedPrefix      = "staged-migrations-prefix"
	codeTooShort          = "too-short"
	codeTooLong           = "too-long"
	codeUnknownValue      = "unknown-value"
	codeInvalid           = "invalid-value"
	codeNotInteger        = "not-an-integer"
	codeOverCeiling       = "limits-over-ceiling"
	codeNotPositive       = "limits-not-positive"
	codeRouteInvalid      = "route-invalid"
	codeRouteWildcard     = "route-wildcard"
	codeRouteReserved     = "route-reserved"
	codeRouteReservedLike = "route-reserved-like"
	codeRouteConflict     = "route-access-conflict"
	codeRouteStatic       = "route-static-public"
	codeRouteDuplicate    = "route-duplicate"
	codeRouteShadowed     = "route-shadowed"
	codeRouteParameter    = "route-parameter"
	codeRouteUncovered    = "route-uncovered"
	codeRouteUnreached    = "route-unreached"
	codeRouteGuarded      = "route-never-public"
	codeFlagUnknown       = "flag-unknown"
	codeFlagDuplicate     = "flag-duplicate"
	codeFlagsTwice        = "flags-declared-twice"
	codeRuntimeConfig     = "runtime-config-invalid"
	codeDateInvalid       = "date-invalid"
	codeDateIgnored       = "date-ignored"
	codePathInvalid       = "path-invalid"
	codePathAbsolute      = "path-absolute"
	codePathEscape        = "path-escape"
	codePathMissing       = "path-not-found"
	codePathKind          = "path-wrong-kind"
	codePathSymlink       = "path-symlink"
	codePathUnreadable    = "path-unreadable"
	codeEnvClash          = "env-name-clash"
	codeSecretPasted      = "secret-pasted"
	codeSecretOutput      = "secret-in-output"  // of the bundler, which has what is published
	codeSecretUnsearched  = "secret-unsearched" // of the bundler
	codeSecretsFile       = "secrets-file"      // of pages validate, which reads it
	codeSubmissions       = "submissions-without-database"
	codeFormName          = "form-name-invalid"
	codeFormEvent         = "form-event-invalid"
	codeFormDuplicate     = "form-duplicate"
	codeFormMethod        = "form-method"
	codeFormUndeclared    = "form-undeclared"
	codeFormUnused        = "form-unused"
	codePageCut           = "page-too-large"
	codeMigrationCut      = "migration-too-large"
	codeMigrationIgnored  = "migration-ignored"
	codeMigrationOrder    = "migration-order"
	codeMigrationNumber   = "migration-duplicate-number"
	codeMigrationDown     = "migration-down-file"
	codeTableMissing      = "table-not-created"
	codeAssetCount        = "asset-count"
	codeAssetLeak         = "asset-members-text"
	codeAssetSecret       = "asset-secret"
	codeAssetSource       = "asset-source"
	codeAssetTooLarge     = "asset-too-large"
	codeAssetsTooMany     = "assets-too-many"
	codeEdgeLine          = "edge-rule-invalid"
	codeEdgePath          = "edge-rule-path"
	codeEdgeHeader        = "edge-rule-header"
	codeEdgeReserved      = "edge-rule-reserved"
	codeEdgeSecret        = CodeHeaderSecret
	codeEdgeLoop          = "edge-rule-loop"
	codeEdgeChain         = "edge-rule-chain"
	codeEdgeOpen          = "edge-rule-open"
	codeEdgeDuplicate     = "edge-rule-duplicate"
	codeEdgeTooMany       = "edge-rules-too-many"

	// Those that say what an upload refuses are its own (reference: the upload
	// protocol, path rules): one name for one rule, wherever it is met.
	codeNameUTF8      = "path_not_utf8"
	codeNameNUL       = "path_nul"
	codeNameControl   = "path_control"
	codeNameBackslash = "path_backslash"
	codeNameEncoded   = "path_encoded"
	codeNameURL       = "path_url_char"
	codeNameWindows   = "path_windows_char"
	codeNameDevice    = "path_windows_name"
	codeNameTrailing  = "path_trailing"
	codeNameLong      = "path_too_long"
	codeNameReserved  = "path_reserved"
	codeNameCollision = "path_collision"
	codeNameSecret    = "path_secret"
	codeLinkEscape    = "path_symlink_escape"
	codeLinkLoop      = "path_symlink_loop"
	codeNotRegular    = "path_not_regular"
)

// Rules returns every code this package reports, sorted, with what it stands for.
func Rules() []Rule {
	return slices.Clone(rules[:])
}

//nolint:gochecknoglobals // a constant table
var rules = [...]Rule{
	{codeAssetCount, "there are more public files, or more that are wrong, than are looked at"},
	{codeAssetLeak, "a public file holds the text of a page that is for members"},
	{codeAssetSecret, "a public file holds a private key"},
	{codeAssetSource, "the folder of the public assets is the site's own, and holds its source"},
	{codeAssetTooLarge, "a public file is larger than an upload takes"},
	{codeAssetsTooMany, "there are more public files, or more bytes of them, than an upload takes"},
	{codeDateIgnored, "the compatibility date is not newer than the platform's own and has no effect"},
	{codeDateInvalid, "the compatibility date is not a calendar day written YYYY-MM-DD"},
	{codeDuplicateKey, "a key stands twice in one object"},
	{codeEdgeChain, "a redirect begins more of them in a row than browsers follow"},
	{codeEdgeDuplicate, "two redirects are for the same paths"},
	{codeEdgeHeader, "_headers sets a header that is the server's, or to what no header holds"},
	{codeEdgeLine, "a line of _headers or _redirects cannot be read"},
	{codeEdgeLoop, "a redirect leads back to itself"},
	{codeEdgeOpen, "a redirect lets whoever makes the link choose the site that it leads to"},
	{codeEdgePath, "a path of _headers or _redirects is none, or does not mean what it says"},
	{codeEdgeReserved, "a rule of _headers or _redirects is about a path the platform keeps for itself"},
	{codeEdgeSecret, "_headers would send a password, a session or a key to every visitor"},
	{codeEdgeTooMany, "_headers or _redirects has more rules, or longer lines, than are looked at"},
	{codeEnvClash, "two bindings or secrets have the same name in the Worker's environment"},
	{codeFileMissing, "there is no manifest, or it cannot be read"},
	{codeFileTooLarge, "the manifest is too large to be one"},
	{codeFlagDuplicate, "a compatibility flag is listed twice"},
	{codeFlagUnknown, "a compatibility flag the platform does not accept"},
	{codeFlagsTwice, "compatibility flags stand in the manifest and in the bundle's JSON runtime config"},
	{codeFormDuplicate, "two forms are declared with one name"},
	{codeFormEvent, "the event of a form is not custom. and a lowercase name"},
	{codeFormMethod, "a form is sent with GET, which the platform refuses"},
	{codeFormName, "the name of a form has other characters than lowercase letters, digits, - and _"},
	{codeFormUndeclared, "a page has a form that the manifest does not declare"},
	{codeFormUnused, "a declared form is on no page"},
	{codeInvalid, "a value breaks a rule of the schema"},
	{codeNotPositive, "a limit is not greater than zero"},
	{codeOverCeiling, "a limit is over the platform's ceiling"},
	{codeMigrationDown, "a file that undoes a migration is applied as one"},
	{codeMigrationNumber, "two migrations have the same number"},
	{codeMigrationIgnored, "a file that looks like a migration is none"},
	{codeMigrationOrder, "migrations sort by name in another order than by number"},
	{codeMigrationCut, "the migrations are too long to look for tables in all of them"},
	{codeMissingKey, "a required key is missing"},
	{codeNotInteger, "a number is not an integer"},
	{codePageCut, "the public pages have more in them than is looked through for forms"},
	{codePathAbsolute, "a path is absolute instead of relative to the bundle root"},
	{codePathEscape, "a path has a .. segment"},
	{codePathInvalid, "a path has a backslash or a control character, or is a folder whose files cannot be uploaded"},
	{codePathMissing, "a path names a file or directory that does not exist"},
	{codePathSymlink, "a symbolic link leads out of the bundle or nowhere"},
	{codePathUnreadable, "a file or directory cannot be read"},
	{codePathKind, "a path names a directory where a file is needed, or the other way round"},
	{codeNameBackslash, "a file's name has a backslash"},
	{codeNameCollision, "two public files have names that many file systems take for one"},
	{codeNameControl, "a file's name has an invisible or control character"},
	{codeNameEncoded, "a file's name looks percent-encoded"},
	{codeNotRegular, "something among the public assets is no regular file"},
	{codeNameUTF8, "a file's name is not UTF-8"},
	{codeNameNUL, "a file's name has a NUL"},
	{codeNameReserved, "a public file is one that the platform keeps for itself: by its path, or as the manifest, a migration or the Worker's entry"},
	{codeNameSecret, "a public file is called like those that hold secrets"},
	{codeLinkEscape, "a symbolic link among the public assets leads to no file of the site"},
	{codeLinkLoop, "symbolic links among the public assets lead in a circle"},
	{codeNameLong, "a file's name is too long"},
	{codeNameTrailing, "a file's name starts or ends in a space, or ends in a dot"},
	{codeNameURL, "a file's name has a character that ends a path in a URL"},
	{codeNameWindows, "a file's name has a character that Windows refuses"},
	{codeNameDevice, "a file's name is one that Windows keeps for devices"},
	{codeRouteConflict, "one pattern is declared with two kinds of access"},
	{codeRouteDuplicate, "one route is declared twice"},
	{codeRouteInvalid, "a pattern is not a site-root-relative path"},
	{codeRouteGuarded, "a public route is for members all the same"},
	{codeRouteParameter, "a pattern looks like it has parameters, which are matched literally"},
	{codeRouteReserved, "a pattern is under a path the platform keeps for itself"},
	{codeRouteReservedLike, "a pattern could be taken for one under a path the platform keeps for itself"},
	{codeRouteShadowed, "a route changes nothing because a wider one of the same access covers it"},
	{codeRouteStatic, "a site without a Worker declares a public route"},
	{codeRouteUncovered, "a members route leaves files public that it was probably meant to cover"},
	{codeRouteUnreached, "no request ever meets a route"},
	{codeRouteWildcard, "a pattern has a star elsewhere than as a trailing /*"},
	{codeRuntimeConfig, "the bundle's JSON runtime config cannot be used"},
	{codeSchemaKey, "the manifest carries $schema, which the platform refuses"},
	{codeSecretOutput, "what is published holds the value of a secret"},
	{codeSecretPasted, "a secret's value seems to stand where its name belongs"},
	{codeSecretUnsearched, "a packed public file is longer than is looked through for secrets"},
	{codeSecretsFile, "the file with the values of the secrets cannot be read"},
	{codeStagedPrefix, "stagedMigrationsPrefix is written by the platform only"},
	{codeSubmissions, "form posts are to be written to a table, but the site has no database"},
	{codeSyntax, "the file is not JSON"},
	{codeTableMissing, "no migration creates a table the manifest names"},
	{codeTooLong, "a string is longer than its limit"},
	{codeTooShort, "a string is empty"},
	{codeUnknownKey, "a key the manifest does not have"},
	{codeUnknownValue, "a value other than those allowed"},
	{codeWrongType, "a value has the wrong type"},
}

// CodeHeaderSecret is the code of a line of "_headers" that would publish a secret.
const CodeHeaderSecret = "edge-rule-secret"
