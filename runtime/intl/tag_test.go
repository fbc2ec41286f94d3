package intl

import "testing"

// UTS 35, part 1, sections 3.2 and annex C; ECMA-402, 6.2.
func TestCanonicalTags(t *testing.T) {
	for text, want := range map[string]string{
		"EN-us":                   "en-US",
		"zh-HANT-tw":              "zh-Hant-TW",
		"iw":                      "he",
		"sh":                      "sr-Latn",
		"sgn-BR":                  "bzs",
		"art-lojban":              "jbo",
		"cmn":                     "zh",
		"ro-mo":                   "ro-MO",
		"und-armn-su":             "und-Armn-AM",
		"de-DD":                   "de-DE",
		"ja-latn-hepburn-heploc":  "ja-Latn-alalc97",
		"hy-arevela":              "hy",
		"sl-1994-biske-rozaj":     "sl-1994-biske-rozaj",
		"en-u-nu-latn-ca-gregory": "en-u-ca-gregory-nu-latn",
		"en-u-ca-islamicc":        "en-u-ca-islamic-civil",
		"en-u-kn-true-foo":        "en-u-kn-true-foo",
		"en-u-kn-true":            "en-u-kn",
		"en-u-kk-yes":             "en-u-kk",
		"en-u-zz-aaa-zz-bbb":      "en-u-zz-aaa",
		"en-u-rg-no23":            "en-u-rg-no50",
		"en-x-u-foo":              "en-x-u-foo",
		"en-b-foo-a-bar":          "en-a-bar-b-foo",
		"en-t-JA-m0-names":        "en-t-ja-m0-prprname",
	} {
		t.Run(text, func(t *testing.T) {
			tag, err := parseTag(text)
			if err != nil {
				t.Errorf("%s: %v", text, err)
				return
			}
			if got := tag.String(); got != want {
				t.Errorf("%s: %s, want %s", text, got, want)
			}
		})
	}
	for _, text := range []string{
		"", "a", "abcd", "en-", "-en", "en--us", "en-u", "en-t", "en-x", "en-a-b", "x-foo", "en-us-us", "de-1996-1996", "en-a-foo-a-bar",
		"en_US", "en-ü", "en\x00", "123", "en-u-a", "i-klingon", "verylonglanguage",
	} {
		t.Run(text, func(t *testing.T) {
			if tag, err := parseTag(text); err == nil {
				t.Errorf("%q is not a tag, got %s", text, tag)
			}
		})
	}
}

// A canonical tag is its own canonical form.
func FuzzTag(f *testing.F) {
	for _, seed := range []string{
		"en-US", "ja-latn-hepburn-heploc", "en-u-ca-islamicc-kn-true", "en-t-hi-m0-names-x-a", "sgn-BE-FR", "und-hakka",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		tag, err := parseTag(text)
		if err != nil {
			return
		}
		once := tag.String()
		again, err := parseTag(once)
		if err != nil {
			t.Fatalf("%q became %q: %v", text, once, err)
		}
		if twice := again.String(); twice != once {
			t.Fatalf("%q became %q, then %q", text, once, twice)
		}
		again.maximize()
		again.minimize()
		available(again)
	})
}

func FuzzTimeZone(f *testing.F) {
	for _, seed := range []string{"UTC", "europe/berlin", "+05:30", "-0000", "+2360", "Etc/GMT+1", "asia/İstanbul"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		name, err := zoneName(text)
		if err != nil {
			return
		}
		if _, err := location(name); err != nil {
			t.Fatalf("%q is the zone %q, which cannot be loaded: %v", text, name, err)
		}
		if again, err := zoneName(name); err != nil || again != name {
			t.Fatalf("%q is %q, then %q: %v", text, name, again, err)
		}
	})
}
