package weburl

import (
	"encoding/hex"
	"strings"
	"unicode/utf8"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/idna"
)

// domains maps and checks as the URL standard asks of UTS #46: without its rules for ASCII, hyphens
// and lengths.
var domains = idna.New(idna.MapForLookup(), idna.BidiRule(), idna.CheckJoiners(true), idna.ValidateLabels(true),
	idna.CheckHyphens(false), idna.StrictDomainName(false), idna.VerifyDNSLength(false), idna.Transitional(false))

const (
	punycode = "xn--"
	// noHost is a host that the URL parser refuses.
	noHost = "["
	// hexPrefix begins a domain in hexadecimal.
	hexPrefix = "x"
)

// asciiHost makes a domain ASCII (URL standard, 3.3 and 3.5) before the package whatwg-url reads it; noHost replaces an invalid one.
// whatwg-url follows UTS #46 from before 2023, with rules for ASCII that the standard does not apply, and mistakes a last label of many
// digits and a letter for a number: so it gets the domain in hexadecimal, which Parser decodes.
func asciiHost(u *whatwg.Url, host string) string {
	if host == "" || host[0] == '[' || !u.IsSpecialScheme() {
		return host
	}
	domain, ok := domainToASCII(UnescapePercent(host))
	if !ok {
		return noHost
	}
	for i := range len(domain) {
		if whatwg.ForbiddenDomainCodePoint.Test(uint(domain[i])) {
			return noHost
		}
	}
	if endsInNumber(domain) {
		return domain // the package reads it as an IPv4 address
	}
	return hexPrefix + hex.EncodeToString([]byte(domain))
}

// https://url.spec.whatwg.org/#ends-in-a-number-checker
func endsInNumber(domain string) bool {
	last := strings.TrimSuffix(domain, ".")
	last = last[strings.LastIndexByte(last, '.')+1:]
	if digits, found := strings.CutPrefix(last, "0x"); found {
		return strings.Trim(digits, "0123456789abcdef") == ""
	}
	return last != "" && strings.Trim(last, "0123456789") == ""
}

func domainToASCII(domain string) (string, bool) {
	if !strings.ContainsFunc(domain, func(r rune) bool { return r >= utf8.RuneSelf }) {
		domain = strings.ToLower(domain)
		if !hasPunycode(domain) {
			return domain, true
		}
	}
	if !utf8.ValidString(domain) {
		return "", false
	}
	labels, err := domains.ToUnicode(strings.Map(mapRevised, domain))
	if err != nil || labels == "" || hasPunycode(labels) {
		return "", false
	}
	if strings.Contains("."+labels+".", "..") && hasEmptyPunycode(domain) {
		return "", false
	}
	ascii, err := idna.Punycode.ToASCII(labels)
	return ascii, err == nil
}

func hasPunycode(domain string) bool {
	return strings.HasPrefix(domain, punycode) || strings.Contains(domain, "."+punycode)
}

// hasEmptyPunycode reports whether a label is xn-- and nothing else, which the package drops:
// 127.0.0.1.xn-- would be that address.
func hasEmptyPunycode(domain string) bool {
	var mapped strings.Builder
	for _, r := range strings.Map(mapRevised, domain) {
		text := strings.ToLower(string(r))
		if alone, err := domains.ToUnicode("a" + text + "b"); err == nil && r >= utf8.RuneSelf {
			text = alone[1 : len(alone)-1]
		}
		mapped.WriteString(text)
	}
	return strings.Contains("."+mapped.String()+".", "."+punycode+".")
}

// mapRevised maps the characters for which revision 33 of UTS #46 (Unicode 15.1 and 16) differs from
// the tables of Unicode 15, as far as they have the character; -1 drops it.
func mapRevised(r rune) rune {
	switch {
	case r < 'Ӏ':
		return r
	case r >= 'Ⴀ' && r <= 'Ⴥ':
		return r - 'Ⴀ' + 'ⴀ'
	case r == 0x115f, r == 0x1160, r == 0x17b4, r == 0x17b5, r == 0x180e, r >= 0x2061 && r <= 0x2063, r >= 0x206a && r <= 0x206f,
		r == 0x3164, r == 0xffa0, r >= 0x1d173 && r <= 0x1d17a:
		return -1
	}
	if to, ok := revisions[r]; ok {
		return to
	}
	return r
}

var revisions = map[rune]rune{ //nolint:gochecknoglobals // a table
	'Ӏ': 'ӏ', 'ẞ': 'ß', 'Ⅎ': 'ⅎ', 'Ↄ': 'ↄ', 0x2f868: 0x36fc, 0x2f874: 0x5f53, 0x2f91f: 0x243ab, 0x2f95f: 0x7aee, 0x2f9bf: 0x45d7,
}
