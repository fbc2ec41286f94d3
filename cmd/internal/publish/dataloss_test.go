package publish

import (
	"errors"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/internal/failure"
	"github.com/pages-toolchain/pages/toolapi"
)

// TestLossFailure: the command in the refusal names all tables that it needs, including those that were named already.
func TestLossFailure(t *testing.T) {
	lost := []toolapi.DataLoss{{Table: "books", Rows: 2, Cause: "delete"}, {Table: "loans", Rows: 1, Cause: "cascade"}}
	for _, c := range []struct {
		name    string
		allowed toolapi.TableNames
		command string
	}{
		{"none", nil, "pages deploy --allow-data-loss books --allow-data-loss loans;"},
		{"one of two", toolapi.TableNames{"Books"}, "pages deploy --allow-data-loss Books --allow-data-loss loans;"},
		{"one that loses nothing", toolapi.TableNames{"shelves", "loans"}, "pages deploy --allow-data-loss loans --allow-data-loss books;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			refused, ok := errors.AsType[*failure.Error](lossFailure(lost, c.allowed, "pages deploy"))
			if !ok || !strings.HasPrefix(refused.Fix, "to allow it: "+c.command) {
				t.Errorf("%+v", refused)
			}
		})
	}
}
