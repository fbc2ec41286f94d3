package bundler

import (
	"fmt"

	"github.com/pages-toolchain/pages/manifest/diagnostic"
)

// problem is an error about a file, "" for none, told by its path relative to
// the site's folder.
func problem(code, file, fix, format string, args ...any) diagnostic.Diagnostic {
	return diagnostic.Diagnostic{Severity: diagnostic.Error, Code: code, File: file, Fix: fix, Message: fmt.Sprintf(format, args...)}
}

// warning is a problem that does not keep the Bundle from being built.
func warning(code, file, fix, format string, args ...any) diagnostic.Diagnostic {
	d := problem(code, file, fix, format, args...)
	d.Severity = diagnostic.Warning
	return d
}

// failed is the error for what is not the author's doing.
func failed(code, what string, err error) diagnostic.Diagnostic {
	return problem(code, "", "", "%s: %v", what, err)
}
