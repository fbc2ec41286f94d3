package deflate_test

import (
	"bytes"
	"fmt"

	"github.com/pages-toolchain/pages/runtime/deflate"
)

func ExampleWriter() {
	var out bytes.Buffer
	w, err := deflate.NewWriter(&out, deflate.Options{Level: deflate.DefaultLevel, Format: deflate.Zlib})
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = w.Write([]byte("a"))
	fmt.Println(err, w.Close())
	fmt.Printf("%x\n", out.Bytes())
	// Output:
	// <nil> <nil>
	// 789c4b040000620062
}
