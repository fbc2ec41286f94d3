package outbox_test

import (
	"fmt"
	"os"
	"time"

	"github.com/pages-toolchain/pages/toolapi/service/outbox"
)

func Example() {
	dir, err := os.MkdirTemp("", "outbox")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	at := time.Date(2026, time.May, 6, 7, 8, 9, 0, time.UTC)
	if _, err := outbox.Put(dir, outbox.Message{
		At: at, To: "ana@acme.test", Subject: "Sign in to Home", Text: "Follow this link.\n",
	}); err != nil {
		fmt.Println(err)
		return
	}
	all, err := outbox.List(dir)
	for _, m := range all {
		fmt.Printf("%s: %s\n%s", m.To, m.Subject, m.Text)
	}
	fmt.Println(err)
	// Output:
	// ana@acme.test: Sign in to Home
	// Follow this link.
	// <nil>
}
