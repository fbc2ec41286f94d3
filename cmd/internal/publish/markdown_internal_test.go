package publish

import "testing"

// TestMarkdown: a text of a migration or of a branch stays text in a comment on GitHub, and notifies no one.
func TestMarkdown(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"a mention", "@octo/team", "@&#8203;octo/team"},
		{"a link", "[x](y) <img>", `\[x\](y) &lt;img&gt;`},
		{"lines", "a\n# b\x1b", `a\\n\# b\\x1b`},
		{"marks", "*a* _b_ ~~c~~ `d` | &", "\\*a\\* \\_b\\_ \\~\\~c\\~\\~ \\`d\\` \\| &amp;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := markdown(c.text); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
