package diagnostic

import "slices"

// Rule describes a diagnostic code.
type Rule struct {
	Code    string
	Summary string
}

// The codes of all diagnostics about a manifest and its files. They are stable. Codes with hyphens
// belong to the checks of this machine. Codes with underscores belong to the service as well
// (path_…, migration_…, database_…): one rule has one code, in a report of `pages validate` and in
// a response to an upload or a deploy.
const (
	CodeSyntax            = "syntax"
	CodeFileMissing       = "file-missing"
	CodeFileTooLarge      = "file-too-large"
	CodeWrongType         = "wrong-type"
	CodeMissingKey        = "missing-key"
	CodeUnknownKey        = "unknown-key"
	CodeDuplicateKey      = "duplicate-key"
	CodeSchemaKey         = "schema-key"
	CodeStagedPrefix      = "staged-migrations-prefix"
	CodeTooShort          = "too-short"
	CodeTooLong           = "too-long"
	CodeUnknownValue      = "unknown-value"
	CodeInvalid           = "invalid-value"
	CodeNotInteger        = "not-an-integer"
	CodeOverCeiling       = "limits-over-ceiling"
	CodeNotPositive       = "limits-not-positive"
	CodeRouteInvalid      = "route-invalid"
	CodeRouteWildcard     = "route-wildcard"
	CodeRouteReserved     = "route-reserved"
	CodeRouteReservedLike = "route-reserved-like"
	CodeRouteConflict     = "route-access-conflict"
	CodeRouteStatic       = "route-static-public"
	CodeRouteDuplicate    = "route-duplicate"
	CodeRouteShadowed     = "route-shadowed"
	CodeRouteParameter    = "route-parameter"
	CodeRouteUncovered    = "route-uncovered"
	CodeRouteUnreached    = "route-unreached"
	CodeRouteGuarded      = "route-never-public"
	CodeRouteNothing      = "route-guards-nothing"
	CodeFlagUnknown       = "flag-unknown"
	CodeFlagDuplicate     = "flag-duplicate"
	CodeFlagsTwice        = "flags-declared-twice"
	CodeRuntimeConfig     = "runtime-config-invalid"
	CodeDateInvalid       = "date-invalid"
	CodeDateIgnored       = "date-ignored"
	CodePathInvalid       = "path-invalid"
	CodePathAbsolute      = "path-absolute"
	CodePathEscape        = "path-escape"
	CodePathMissing       = "path-not-found"
	CodePathKind          = "path-wrong-kind"
	CodePathSymlink       = "path-symlink"
	CodePathUnreadable    = "path-unreadable"
	CodeEnvClash          = "env-name-clash"
	CodeSecretPasted      = "secret-pasted"
	codeSecretOutput      = "secret-in-output"  // from the bundler, which has the published files
	codeSecretUnsearched  = "secret-unsearched" // from the bundler
	codeSecretsFile       = "secrets-file"      // from pages validate, which reads the file
	CodeSubmissions       = "submissions-without-database"
	CodeFormName          = "form-name-invalid"
	CodeFormEvent         = "form-event-invalid"
	CodeFormDuplicate     = "form-duplicate"
	CodeFormMethod        = "form-method"
	CodeFormUndeclared    = "form-undeclared"
	CodeFormUnused        = "form-unused"
	CodeFormUnreachable   = "form-unreachable"
	CodeFormEncoding      = "form-encoding"
	CodeFormUnnamed       = "form-unnamed"
	CodeFormNext          = "form-next"
	CodePageCut           = "page-too-large"
	CodeLinkBroken        = "link-broken"
	CodeMigrationName     = "migration-name-invalid"
	CodeMigrationText     = "migration-not-text"
	CodeMigrationTooLarge = "migration-too-large"
	CodeMigrationNone     = "migration-folder-empty"
	CodeMigrationIgnored  = "migration-ignored"
	CodeMigrationOrder    = "migration-order"
	CodeMigrationNumber   = "migration-duplicate-number"
	CodeMigrationDown     = "migration-down-file"
	CodeTableMissing      = "table-not-created"
	CodeAssetCount        = "asset-count"
	CodeAssetLeak         = "asset-members-text"
	CodeMembersPublic     = "members-file-public"
	CodeAssetRenamed      = "asset-renamed"
	CodeAssetSecret       = "asset-secret"
	CodeAssetSource       = "asset-source"
	CodeAssetTooLarge     = "asset-too-large"
	CodeAssetsTooMany     = "assets-too-many"
	CodeEdgeLine          = "edge-rule-invalid"
	CodeEdgePath          = "edge-rule-path"
	CodeEdgeHeader        = "edge-rule-header"
	CodeEdgeReserved      = "edge-rule-reserved"
	CodeEdgeSecret        = "edge-rule-secret"
	CodeEdgeLoop          = "edge-rule-loop"
	CodeEdgeChain         = "edge-rule-chain"
	CodeEdgeOpen          = "edge-rule-open"
	CodeEdgeHides         = "edge-rule-hides"
	CodeEdgeAlias         = "edge-rule-alias"
	CodeEdgeDuplicate     = "edge-rule-duplicate"
	CodeEdgeTooMany       = "edge-rules-too-many"

	// Codes that the service returns for a path of an upload, too (upload protocol, path rules).
	CodeNameUTF8      = "path_not_utf8"
	CodeNameNFC       = "path_not_nfc"
	CodeNameNUL       = "path_nul"
	CodeNameControl   = "path_control"
	CodeNameBackslash = "path_backslash"
	CodeNameEncoded   = "path_encoded"
	CodeNameURL       = "path_url_char"
	CodeNameWindows   = "path_windows_char"
	CodeNameDevice    = "path_windows_name"
	CodeNameTrailing  = "path_trailing"
	CodeNameLong      = "path_too_long"
	CodeNameReserved  = "path_reserved"
	CodeNameCollision = "path_collision"
	CodeNameSecret    = "path_secret"
	CodeLinkEscape    = "path_symlink_escape"
	CodeLinkLoop      = "path_symlink_loop"
	CodeNotRegular    = "path_not_regular"
)

// Rules returns every code with its meaning, sorted.
func Rules() []Rule {
	return slices.Clone(rules[:])
}

var rules = [...]Rule{
	{CodeAssetCount, "there are too many public files, or too many faulty ones, to check them all"},
	{CodeAssetLeak, "a public file holds the text of a members page"},
	{CodeAssetRenamed, "a public file has a name in decomposed Unicode"},
	{CodeAssetSecret, "a public file holds a private key"},
	{CodeAssetSource, "the assets folder is the site's own folder, and holds its source"},
	{CodeAssetTooLarge, "a public file is larger than the limit of an upload"},
	{CodeAssetsTooMany, "the public files are over the limits of an upload"},
	{CodeDateIgnored, "the compatibility date is not newer than the platform's own and has no effect"},
	{CodeDateInvalid, "the compatibility date is not a calendar day written YYYY-MM-DD"},
	{CodeDuplicateKey, "an object has a duplicate key"},
	{CodeEdgeAlias, "a rule names a page by an alias, which redirects visitors"},
	{CodeEdgeChain, "a chain of redirects is longer than browsers follow"},
	{CodeEdgeDuplicate, "two redirects have the same path"},
	{CodeEdgeHeader, "_headers sets a header that is reserved for the server, or an invalid value"},
	{CodeEdgeHides, "a rule that answers with one file hides others"},
	{CodeEdgeLine, "a line of _headers or _redirects cannot be read"},
	{CodeEdgeLoop, "redirects form a loop, or never end"},
	{CodeEdgeOpen, "a redirect lets the author of a link choose its target site"},
	{CodeEdgePath, "a path in _headers or _redirects is invalid, or never matches as written"},
	{CodeEdgeReserved, "a rule of _headers or _redirects is for a path that the platform reserves"},
	{CodeEdgeSecret, "_headers would send a password, a session or a key to every visitor"},
	{CodeEdgeTooMany, "_headers or _redirects has too many rules, or too long lines"},
	{CodeEnvClash, "two bindings or secrets have the same name in the Worker's environment"},
	{CodeFileMissing, "there is no manifest, or it cannot be read"},
	{CodeFileTooLarge, "the manifest is too large"},
	{CodeFlagDuplicate, "a compatibility flag is listed twice"},
	{CodeFlagUnknown, "a compatibility flag the platform does not accept"},
	{CodeFlagsTwice, "the manifest and the bundle's JSON runtime config both list compatibility flags"},
	{CodeFormDuplicate, "two forms have the same name"},
	{CodeFormEncoding, "a form is sent in an encoding that loses its content"},
	{CodeFormEvent, "the event of a form is not custom. and a lowercase name"},
	{CodeFormMethod, "a form is sent with GET, which the platform refuses"},
	{CodeFormName, "the name of a form has characters other than lowercase letters, digits, - and _"},
	{CodeFormNext, "the page to show after a form is not on the site"},
	{CodeFormUndeclared, "a page has a form that the manifest does not declare"},
	{CodeFormUnnamed, "a field of a form has no name, and is never sent"},
	{CodeFormUnreachable, "a form is sent to an address that takes no posts"},
	{CodeFormUnused, "a declared form is on no page"},
	{CodeInvalid, "a value breaks a rule of the schema"},
	{CodeNotPositive, "a limit is not greater than zero"},
	{CodeOverCeiling, "a limit is over the platform's ceiling"},
	{CodeLinkBroken, "a page links to, or loads, an address of the site that does not exist"},
	{CodeMembersPublic, "a public file is a link to a file for members, or has its bytes"},
	{CodeMigrationDown, "a down file is applied as a migration"},
	{CodeMigrationNumber, "two migrations have the same number"},
	{CodeMigrationNone, "the folder of migrations has no migration in it"},
	{CodeMigrationIgnored, "a file that looks like a migration is not applied"},
	{CodeMigrationName, "a migration's name has a space at an end, or does not end in lower-case .sql"},
	{CodeMigrationText, "a migration is not UTF-8 text"},
	{CodeMigrationOrder, "the order of the migrations' names differs from that of their numbers"},
	{CodeMigrationTooLarge, "a migration is larger than 10 MiB, or all of them together are too large"},
	{CodeMissingKey, "a required key is missing"},
	{CodeNotInteger, "a number is not an integer"},
	{CodePageCut, "the public pages are too large to search all of them for forms"},
	{CodePathAbsolute, "a path is absolute instead of relative to the bundle root"},
	{CodePathEscape, "a path has a .. segment"},
	{CodePathInvalid, "a path has a backslash or a control character, or is a folder whose files cannot be uploaded"},
	{CodePathMissing, "a path names a file or directory that does not exist"},
	{CodePathSymlink, "a symbolic link leads out of the bundle or to nothing, or is a migration"},
	{CodePathUnreadable, "a file or directory cannot be read"},
	{CodePathKind, "a path names a directory where a file is needed, or the reverse"},
	{CodeNameBackslash, "a file's name has a backslash"},
	{CodeNameCollision, "two public files, or two migrations, have names that are the same to many file systems"},
	{CodeNameControl, "a file's name has an invisible or control character"},
	{CodeNameEncoded, "a file's name looks percent-encoded"},
	{CodeNameNFC, "a file's name is not in Unicode form C"},
	{CodeNotRegular, "an entry of the public assets or the migrations is not a regular file"},
	{CodeNameUTF8, "a file's name is not UTF-8"},
	{CodeNameNUL, "a file's name has a NUL"},
	{
		CodeNameReserved,
		"a public file is reserved: by its path, or because it is the manifest, a migration or the Worker's entry",
	},
	{CodeNameSecret, "a public file or a migration has a name that is usual for secrets"},
	{CodeLinkEscape, "a symbolic link among the public assets does not lead to a file of the site"},
	{CodeLinkLoop, "symbolic links among the public assets form a loop"},
	{CodeNameLong, "a file's name is too long"},
	{CodeNameTrailing, "a file's name starts or ends in a space, or ends in a dot"},
	{CodeNameURL, "a file's name has a character that ends a path in a URL"},
	{CodeNameWindows, "a file's name has a character that Windows refuses"},
	{CodeNameDevice, "Windows reserves a file's name for a device"},
	{CodeRouteConflict, "one pattern is declared with two kinds of access"},
	{CodeRouteDuplicate, "one route is declared twice"},
	{CodeRouteNothing, "no file lies under a members route, and there is no Worker"},
	{CodeRouteInvalid, "a pattern is not a site-root-relative path"},
	{CodeRouteGuarded, "a members route covers a public route"},
	{CodeRouteParameter, "a pattern looks like it has parameters, which are matched literally"},
	{CodeRouteReserved, "a pattern is under a path that the platform reserves"},
	{CodeRouteReservedLike, "a pattern can be mistaken for one under a path that the platform reserves"},
	{CodeRouteShadowed, "a route changes nothing because a wider one of the same access covers it"},
	{CodeRouteStatic, "a site without a Worker declares a public route"},
	{CodeRouteUncovered, "a members route leaves files public that it was probably meant to cover"},
	{CodeRouteUnreached, "no request ever meets a route"},
	{CodeRouteWildcard, "a pattern has a star that is not in a trailing /*"},
	{CodeRuntimeConfig, "the bundle's JSON runtime config cannot be used"},
	{CodeSchemaKey, "the manifest has $schema, which the platform refuses"},
	{codeSecretOutput, "the published output holds the value of a secret"},
	{CodeSecretPasted, "a secret's value seems to be in place of its name"},
	{codeSecretUnsearched, "a compressed public file is too long to search all of it for secrets"},
	{codeSecretsFile, "the file with the values of the secrets cannot be read"},
	{CodeStagedPrefix, "only the platform writes stagedMigrationsPrefix"},
	{CodeSubmissions, "submissions names a table, but the site has no database"},
	{CodeSyntax, "the file is not JSON"},
	{CodeTableMissing, "no migration creates a table the manifest names"},
	{CodeTooLong, "a string is longer than its limit"},
	{CodeTooShort, "a string is empty"},
	{CodeUnknownKey, "an unknown key"},
	{CodeUnknownValue, "a value that is not allowed"},
	{CodeWrongType, "a value has the wrong type"},
}
