package oracle_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/oracle"
)

// A test fails at its end when a response of the service does not match the description. The console is not in it.
func Example() {
	document, err := toolapi.NewContract().OpenAPI()
	if err != nil {
		fmt.Println(err)
		return
	}
	service := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTeapot) })
	t := &report{} // in a test, its own *testing.T
	o := oracle.New(t, document)
	held := o.Handler(service)
	for _, path := range []string{toolapi.ToolsPath + "domain.list", "/console/"} {
		held.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodPost, "http://localhost"+path, strings.NewReader(`{}`)))
	}
	t.end()
	fmt.Println("held to the description:", o.Checked())
	// Output:
	// POST /api/v1/tools/domain.list: 418
	// held to the description: 1
}

// report is a test that prints its failures.
type report struct {
	testing.TB
	end func()
}

func (r *report) Helper() {}

func (r *report) Cleanup(end func()) { r.end = end }

func (r *report) Error(problems ...any) {
	exchange, _, _ := strings.Cut(fmt.Sprint(problems...), " : ") // and then the reason
	fmt.Println(exchange)
}
