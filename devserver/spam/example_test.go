package spam_test

import (
	"fmt"

	"github.com/pages-toolchain/pages/devserver/spam"
)

func ExampleScore() {
	v := spam.Score(spam.Post{
		Honeypot: "_gotcha",
		Answers:  []spam.Answer{{Name: "name", Text: "visit http://pills.test today"}},
	})
	fmt.Println(v.Score, v.IsSpam())
	for _, r := range v.Reasons {
		fmt.Printf("%s: %s\n", r.Code, r.Message)
	}
	// Output:
	// 15 true
	// honeypot: the hidden field "_gotcha" has a value
	// link-in-name: the answer "name" holds a link
}
