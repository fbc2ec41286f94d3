package names_test

import (
	"fmt"
	"strings"

	"github.com/pages-toolchain/pages/bundler/names"
)

func ExampleWithoutCalls() {
	const printed = `var __name = (target, value) => __defProp(target, "name", { value, configurable: true });
var greet = /* @__PURE__ */ __name(() => "hello", "greet");
var other = /* @__PURE__ */ __name(() => "bye", "farewell");
`
	code := names.WithoutCalls([]byte(printed))
	fmt.Println(len(code) == len(printed))
	for line := range strings.Lines(string(code)) {
		fmt.Println(strings.Join(strings.Fields(line), " "))
	}
	// Output:
	// true
	// var __name = (target, value) => __defProp(target, "name", { value, configurable: true });
	// var greet = () => "hello" ;
	// var other = /* @__PURE__ */ __name(() => "bye", "farewell");
}
