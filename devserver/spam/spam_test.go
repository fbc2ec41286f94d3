package spam_test

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pages-toolchain/pages/devserver/spam"
)

func answers(pairs ...string) (all []spam.Answer) {
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, spam.Answer{Name: pairs[i], Text: pairs[i+1]})
	}
	return all
}

func TestScore(t *testing.T) {
	links := func(n int) string { return strings.Repeat("see https://a.test/x and ", n) }
	for name, c := range map[string]struct {
		post  spam.Post
		score int
		codes string
	}{
		"nothing":               {spam.Post{}, 0, ""},
		"a usual message":       {spam.Post{Answers: answers("name", "Ada", "message", "Hello, are you open on Sunday?")}, 0, ""},
		"in time":               {spam.Post{Stamp: spam.StampInTime}, 0, ""},
		"proven":                {spam.Post{Proven: true}, 0, ""},
		"proven, but fast":      {spam.Post{Proven: true, Stamp: spam.StampTooFast}, 0, "too-fast proof"},
		"proven, in a honeypot": {spam.Post{Proven: true, Honeypot: "_gotcha"}, 10, "honeypot"},
		"proven, many posts":    {spam.Post{Proven: true, Recent: 60}, 4, "rate proof"},
		"no proof of ours":      {spam.Post{BadProof: true}, 4, "proof-forged"},
		"no proof":              {spam.Post{NoProof: true}, 4, "proof-missing"},
		"too fast alone":        {spam.Post{Stamp: spam.StampTooFast}, 6, "too-fast"},
		"forged alone":          {spam.Post{Stamp: spam.StampForged}, 4, "stamp-forged"},
		"honeypot":              {spam.Post{Honeypot: "_gotcha"}, 10, "honeypot"},
		"four posts before":     {spam.Post{Recent: 4}, 0, ""},
		"five posts before":     {spam.Post{Recent: 5}, 3, "rate"},
		"twenty posts before":   {spam.Post{Recent: 20}, 6, "rate"},
		"sixty posts before":    {spam.Post{Recent: 60}, 10, "rate"},
		"sent twice":            {spam.Post{Repeats: 1}, 3, "repeated"},
		"sent three times":      {spam.Post{Repeats: 2}, 6, "repeated"},
		"sent six times":        {spam.Post{Repeats: 5}, 10, "repeated"},
		"a website":             {spam.Post{Answers: answers("website", " https://www.acme.test/a?b=c ")}, 0, ""},
		"a website in its name": {spam.Post{Answers: answers("name", "https://acme.test")}, 0, ""},
		"one www link":          {spam.Post{Answers: answers("name", "win at https://www.acme.test now")}, 5, "link-in-name"},
		"two links":             {spam.Post{Answers: answers("message", links(2))}, 0, ""},
		"three links":           {spam.Post{Answers: answers("message", links(1), "other", links(2))}, 3, "links"},
		"six links":             {spam.Post{Answers: answers("message", links(6))}, 6, "links"},
		"fifteen links":         {spam.Post{Answers: answers("message", links(15))}, 10, "links"},
		"HTML":                  {spam.Post{Answers: answers("message", `<a href="http://a.test">x</a>`)}, 4, "link-markup"},
		"a forum's": {
			spam.Post{Answers: answers("message", "[url=http://a.test]x[/url] http://b.test http://c.test")}, 7, "links link-markup",
		},
		"markup without a link": {spam.Post{Answers: answers("message", "how do I write <a href> in HTML?")}, 0, ""},
		"several weak signs": {
			spam.Post{Stamp: spam.StampTooFast, Answers: answers("message", `<a href="http://a.test">x</a>`)}, 10, "too-fast link-markup",
		},
	} {
		t.Run(name, func(t *testing.T) {
			v := spam.Score(c.post)
			var codes []string
			sum := 0
			for _, r := range v.Reasons {
				codes, sum = append(codes, r.Code), sum+r.Points
				if r.Message == "" || (r.Points <= 0) != (r.Code == spam.CodeProof) {
					t.Errorf("the reason %+v", r)
				}
			}
			if v.Score != c.score || sum != c.score || strings.Join(codes, " ") != c.codes || v.IsSpam() != (c.score >= 10) {
				t.Errorf("score %d by %q, want %d by %q", v.Score, codes, c.score, c.codes)
			}
		})
	}
}

func TestStamp(t *testing.T) {
	key, now := []byte("a key of the site"), time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	good := spam.Stamp(key, now)
	for name, c := range map[string]struct {
		text  string
		after time.Duration
		want  spam.StampState
	}{
		"absent":            {"", time.Minute, spam.StampAbsent},
		"at once":           {good, 0, spam.StampTooFast},
		"before two s":      {good, spam.LeastTime - time.Millisecond, spam.StampTooFast},
		"after two s":       {good, spam.LeastTime, spam.StampInTime},
		"after a day":       {good, 24 * time.Hour, spam.StampInTime},
		"after two days":    {good, 48 * time.Hour, spam.StampAbsent},
		"a clock behind":    {good, -30 * time.Second, spam.StampTooFast},
		"from the future":   {good, -time.Hour, spam.StampForged},
		"another key":       {spam.Stamp([]byte("other"), now), time.Minute, spam.StampForged},
		"cut":               {good[:len(good)-2], time.Minute, spam.StampForged},
		"longer":            {good + "AAAA", time.Minute, spam.StampForged},
		"no base64":         {"now", time.Minute, spam.StampForged},
		"another time":      {"A" + string(flip(good[1])) + good[2:], time.Minute, spam.StampForged},
		"a template's text": {"%STAMP%", time.Minute, spam.StampForged},
	} {
		t.Run(name, func(t *testing.T) {
			if got := spam.ReadStamp(key, c.text, now.Add(c.after)); got != c.want {
				t.Errorf("state %d, want %d", got, c.want)
			}
		})
	}
}

func flip(c byte) byte {
	if c == 'A' {
		return 'B'
	}
	return 'A'
}

func FuzzReadStamp(f *testing.F) {
	key, now := []byte("k"), time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	f.Add(spam.Stamp([]byte("other"), now))
	f.Add("")
	f.Add("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA")
	f.Fuzz(func(t *testing.T, text string) {
		if s := spam.ReadStamp(key, text, now); s == spam.StampInTime || s == spam.StampTooFast && text != spam.Stamp(key, now) {
			t.Errorf("%q passes as %d", text, s)
		}
	})
}

func TestHistory(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	const message = "Buy our excellent pills, they are very cheap today"
	h := spam.NewHistory()
	for i, c := range []struct {
		pass            time.Duration
		address, form   string
		message         string
		recent, repeats int
	}{
		{0, "192.0.2.1", "contact", message, 0, 0},
		{0, "192.0.2.1", "contact", strings.ToUpper(message) + "  ", 1, 1},
		{0, "192.0.2.1", "other", message, 0, 0},
		{0, "192.0.2.2", "contact", message, 0, 2},
		{0, "::ffff:192.0.2.2", "contact", "short", 1, 0},
		{0, "192.0.2.2", "contact", "short", 2, 0},
		{0, "2001:db8::1", "contact", "short", 0, 0},
		{0, "2001:db8::ffff:1", "contact", "short", 1, 0},
		{0, "2001:db8:0:1::1", "contact", "short", 0, 0},
		{0, "", "contact", message, 0, 0}, // unknown: a program on this machine
		{0, "", "contact", message, 0, 0},
		{spam.RateWindow + time.Second, "192.0.2.2", "contact", message, 0, 3},
		{spam.RepeatWindow + time.Second, "192.0.2.2", "contact", message, 0, 0},
	} {
		at = at.Add(c.pass)
		address, _ := netip.ParseAddr(c.address)
		recent, repeats := h.Note(at, address, c.form, answers("name", "x", "message", c.message))
		if recent != c.recent || repeats != c.repeats {
			t.Errorf("post %d: %d recent and %d repeats, want %d and %d", i, recent, repeats, c.recent, c.repeats)
		}
	}
}

// TestHistoryIsBounded: a flood of addresses and messages neither grows the history without end nor hides frequent ones.
func TestHistoryIsBounded(t *testing.T) {
	at := time.Date(2026, 11, 30, 9, 0, 0, 0, time.UTC)
	h := spam.NewHistory()
	busy := netip.MustParseAddr("198.51.100.1")
	for range 10 {
		h.Note(at, busy, "contact", nil)
	}
	for i := range 20_000 {
		at = at.Add(time.Millisecond)
		h.Note(at, netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)}), "contact",
			answers("message", fmt.Sprintf("a message of its own that is long enough: %d", i)))
	}
	if recent, _ := h.Note(at, busy, "contact", nil); recent != 10 {
		t.Errorf("%d recent posts, want 10", recent)
	}
	if n := h.Len(); n > 2*4096 {
		t.Errorf("it remembers %d keys", n)
	}
}

func TestHoneypots(t *testing.T) {
	for _, name := range spam.Honeypots() {
		if !spam.IsHoneypot(name) {
			t.Errorf("%q is none", name)
		}
	}
	if slices.ContainsFunc([]string{"", "email", "_next", "honey"}, spam.IsHoneypot) {
		t.Error("a usual field is a honeypot")
	}
}
