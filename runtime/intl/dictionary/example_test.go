package dictionary_test

import (
	"fmt"

	"github.com/pages-toolchain/pages/runtime/intl/dictionary"
)

func Example() {
	w, err := dictionary.Words("ภาษาไทย, 中文")
	if err != nil {
		fmt.Println(err)
		return
	}
	for {
		more, err := w.Next()
		if err != nil || !more {
			break
		}
		fmt.Printf("%q %t\n", w.Value(), w.Like())
	}
	// Output:
	// "ภาษา" true
	// "ไทย" true
	// "," false
	// " " false
	// "中文" true
}
