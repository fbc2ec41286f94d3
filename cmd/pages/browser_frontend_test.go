//go:build browser && unix

package main

import (
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/pages-toolchain/pages/cmd/tools/testmachine"
)

// TestBrowserFrontend visits a site of Vite and React as a stranger and as a member, while its author edits.
func TestBrowserFrontend(t *testing.T) {
	d := startDev(t, viteSite(t), "--", "vite")
	p := page{t, testmachine.Browser(t)}
	p.do("home", chromedp.Navigate(d.URL+"/"))
	p.text("clicked 0 times")
	p.do("a click", chromedp.Click(`#count`))
	p.text("clicked 1 times")
	p.do("a mark", p.evaluate(`window.mark = "still here"; ""`))
	d.edit("src/Counter.jsx", "clicked {count} times", "pressed {count} times")
	p.text("pressed 1 times") // the component keeps its state
	p.holds(`window.mark === "still here"`)
	p.holds(`!document.querySelector('script[src^="/__pages/"]')`) // pages itself reloads nothing here

	p.do("a form", chromedp.SendKeys(`input[name="email"]`, "ada@example.org"), chromedp.Click(`main form button`))
	d.eventually("a lead", func() bool { return len(d.leads("contact")) == 1 })
	p.text("Your message has arrived.") // an unfinished navigation would end the next one

	p.do("a page whose module comes later", chromedp.Navigate(d.URL+"/about"))
	p.text("Everybody reads this.")
	p.do("a members page", chromedp.Navigate(d.URL+"/club/"))
	p.holds(`location.pathname === "/__pages/sign-in"`)
	p.do("sign in", chromedp.Click(`button[value="member"]`))
	p.text("The combination has changed.")
	p.do("another one", chromedp.Navigate(d.URL+"/club/vault"))
	p.text("The combination is 31-7-12.")
	p.do("a click", chromedp.Click(`#count`))
	p.text("pressed 1 times")
	d.edit("src/Vault.jsx", "31-7-12", "40-7-12")
	p.text("The combination is 40-7-12.")
	p.text("pressed 1 times")
}
