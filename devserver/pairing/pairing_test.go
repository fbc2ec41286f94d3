package pairing

import (
	"errors"
	"fmt"
	"net/netip"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// recorded are Codes and the author's notifications.
type recorded struct {
	*Codes
	t    *testing.T
	told []Event
}

func record(t *testing.T) *recorded {
	t.Helper()
	r := &recorded{t: t}
	r.Codes = New(Options{OnEvent: func(e Event) { r.told = append(r.told, e) }})
	return r
}

// ask makes a new browser ask from an address, and returns its token and its code.
func (r *recorded) ask(address string) (token, code string) {
	r.t.Helper()
	token, browser, err := r.Ask("", "demo.example", netip.MustParseAddr(address))
	last := r.told[len(r.told)-1]
	if err != nil || token == "" || last.State != Asked || last.Browser != browser || last.Browser == 0 {
		r.t.Fatalf("asked: %q %d %v, told %+v", token, browser, err, last)
	}
	return token, last.Code
}

// states returns the states of the author's notifications, in order.
func (r *recorded) states() string {
	var all []string
	for _, e := range r.told {
		all = append(all, fmt.Sprintf("%s %d", e.State, e.Browser))
	}
	return strings.Join(all, ", ")
}

func other(code string) string {
	if code == "00000000" {
		return "11111111"
	}
	return "00000000"
}

func TestPairing(t *testing.T) {
	c := record(t)
	token, code := c.ask("203.0.113.9")
	if len(code) != 8 || strings.Trim(code, "0123456789") != "" {
		t.Fatalf("the code is %q", code)
	}
	if fresh, browser, err := c.Ask(token, "demo.example", netip.Addr{}); fresh != "" || browser != 1 || err != nil {
		t.Errorf("asked again: %q %d %v", fresh, browser, err)
	}
	if c.Paired(token) || c.Paired("") {
		t.Error("paired before the code was entered")
	}
	paired, err := c.Enter(token, " "+code[:4]+" "+code[4:]+"\u00a0")
	if err != nil || !c.Paired(paired) {
		t.Fatalf("entered: %v", err)
	}
	if paired == token || c.Paired(token) {
		t.Error("the token of before is that of a paired browser")
	}
	if want := "asked 1, paired 1"; c.states() != want {
		t.Errorf("told %s, want %s", c.states(), want)
	}
	if n := c.Forget(); n != 1 || c.Paired(paired) {
		t.Errorf("forgot %d", n)
	}
}

// A code is useless to another browser, a second time, or after five wrong ones.
func TestCodeIsBound(t *testing.T) {
	c := record(t)
	first, code := c.ask("203.0.113.9")
	second, secondCode := c.ask("203.0.113.10")
	for _, use := range []struct{ what, token, code string }{
		{"another browser", second, code},
		{"no code", first, ""},
		{"a part", first, code[:7]},
		{"more", first, code + "0"},
		{"another code", first, other(code)},
	} {
		if _, err := c.Enter(use.token, use.code); !errors.As(err, new(*WrongError)) {
			t.Errorf("%s: %v", use.what, err)
		}
	}
	for _, token := range []string{"", "x"} {
		if _, err := c.Enter(token, code); !errors.Is(err, ErrNoCode) {
			t.Errorf("token %q: %v", token, err)
		}
	}
	paired, err := c.Enter(first, code)
	if err != nil {
		t.Fatal(err)
	}
	for _, token := range []string{first, paired, second} {
		if _, err := c.Enter(token, code); err == nil {
			t.Error("a code was used twice")
		}
	}
	for range 3 { // after two wrong ones
		_, err = c.Enter(second, other(secondCode))
	}
	if wrong, ok := errors.AsType[*WrongError](err); !ok || wrong.Left != 0 {
		t.Errorf("the fifth wrong code: %v", err)
	}
	if _, err := c.Enter(second, secondCode); !errors.Is(err, ErrNoCode) {
		t.Errorf("the sixth try, with the right code: %v", err)
	}
	if fresh, browser, err := c.Ask(second, "demo.example", netip.Addr{}); fresh == "" || browser != 3 || err != nil {
		t.Errorf("asked again after five tries: %q %d %v", fresh, browser, err)
	}
	if want := "asked 1, asked 2, paired 1, failed 2, asked 3"; c.states() != want {
		t.Errorf("told %s, want %s", c.states(), want)
	}
}

func TestCodeExpires(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := record(t)
		early, earlyCode := c.ask("203.0.113.9")
		late, lateCode := c.ask("203.0.113.9")
		time.Sleep(life - time.Nanosecond)
		paired, err := c.Enter(early, earlyCode)
		if err != nil {
			t.Errorf("just in time: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if _, err := c.Enter(late, lateCode); !errors.Is(err, ErrNoCode) {
			t.Errorf("after ten minutes: %v", err)
		}
		time.Sleep(30 * 24 * time.Hour)
		if !c.Paired(paired) {
			t.Error("a browser is paired no longer")
		}
	})
}

// A stranger who drops the cookie after each try gets no more tries than the bounds: fifteen from one address, fifty from all in ten
// minutes, and the author gets no more lines.
func TestGuessesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := record(t)
		grind := func(addresses int) (tries int) {
			for i := range 1000 {
				token, _, err := c.Ask("", "demo.example", netip.AddrFrom4([4]byte{203, 0, 113, byte(i % addresses)}))
				if busy, ok := errors.AsType[*BusyError](err); ok {
					if busy.After <= 0 || busy.After > life {
						t.Errorf("again in %v", busy.After)
					}
					continue
				}
				for range 6 {
					if _, err := c.Enter(token, other(c.told[len(c.told)-1].Code)); errors.As(err, new(*WrongError)) {
						tries++
					}
				}
			}
			return tries
		}
		if tries := grind(1); tries != maxCodesOf*maxTries {
			t.Errorf("one address has %d tries", tries)
		}
		mine, myCode := c.ask("198.51.100.1") // another address still gets one
		if tries := grind(200); tries != (maxCodes-maxCodesOf-1)*maxTries {
			t.Errorf("many addresses have %d further tries", tries)
		}
		if most := 2*maxCodes + 2; len(c.told) > most {
			t.Errorf("the author got %d lines: %s", len(c.told), c.states())
		}
		if _, err := c.Enter(mine, myCode); err != nil {
			t.Errorf("who asked before is kept out: %v", err)
		}
		c.Forget()
		if _, _, err := c.Ask("", "demo.example", netip.MustParseAddr("203.0.113.0")); err != nil {
			t.Errorf("after Forget: %v", err)
		}
		grind(200)
		time.Sleep(life)
		c.ask("203.0.113.0")
	})
}

// An IPv6 network counts as one visitor, and all visitors without an address count
// as one.
func TestAddresses(t *testing.T) {
	c := record(t)
	for i := range maxCodesOf {
		c.ask(fmt.Sprintf("2001:db8::%d", i))
	}
	if _, _, err := c.Ask("", "", netip.MustParseAddr("2001:db8::ffff")); err == nil {
		t.Error("a fourth address of a network gets a code")
	}
	c.ask("2001:db8:0:1::1")
	for range maxCodes - maxCodesOf - 1 {
		if _, _, err := c.Ask("", "", netip.Addr{}); err != nil {
			t.Errorf("without an address: %v", err)
		}
	}
	if _, _, err := c.Ask("", "", netip.Addr{}); err == nil {
		t.Error("without an address there is no bound")
	}
}

// No two tokens or codes are the same, and codes use all digits.
func TestRandom(t *testing.T) {
	seen := map[string]bool{}
	var first [10]int
	for range 2000 {
		code := newCode()
		if len(code) != 8 {
			t.Fatalf("the code is %q", code)
		}
		seen[code] = true
		first[code[0]-'0']++
	}
	if len(seen) < 1990 {
		t.Errorf("of 2000 codes %d differ", len(seen))
	}
	for digit, n := range first {
		if n < 100 || n > 300 {
			t.Errorf("%d of 2000 codes begin with %d", n, digit)
		}
	}
}
