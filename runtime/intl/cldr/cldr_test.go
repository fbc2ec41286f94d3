package cldr_test

import (
	"slices"
	"testing"

	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

func TestFind(t *testing.T) {
	table := cldr.Table("a\t1\nab\t2\nab/c\t3\nb\t\n")
	for key, want := range map[string]string{"a": "1", "ab": "2", "ab/c": "3", "b": ""} {
		t.Run(key, func(t *testing.T) {
			if got, ok := table.Find(key); !ok || got != want {
				t.Errorf("%s: %q, %v; want %q", key, got, ok, want)
			}
		})
	}
	for _, key := range []string{"", "0", "aa", "ab/", "c"} {
		t.Run(key, func(t *testing.T) {
			if got, ok := table.Find(key); ok {
				t.Errorf("%q is not there, got %q", key, got)
			}
		})
	}
	var under []string
	for key, value := range table.Under("ab") {
		under = append(under, key+"="+value)
	}
	if want := []string{"=2", "/c=3"}; !slices.Equal(under, want) {
		t.Errorf("under ab: %q, want %q", under, want)
	}
}

// Every table is sorted, or else nothing is found in it.
func TestSorted(t *testing.T) {
	for name, table := range map[string]cldr.Table{
		"common": cldr.Common(), "likely": cldr.Likely(), "aliases": cldr.Aliases(), "zones": cldr.Zones(),
	} {
		t.Run(name, func(t *testing.T) {
			n := 0
			for key, value := range table.Under("") {
				n++
				if got, ok := table.Find(key); !ok || got != value {
					t.Fatalf("%s: %q is %q, %v; want %q", name, key, got, ok, value)
				}
			}
			if n < 100 {
				t.Errorf("%s has %d lines only", name, n)
			}
		})
	}
}

// A region has its own values, and for the rest its parents'.
func TestInheritance(t *testing.T) {
	for _, c := range []struct{ locale, key, want string }{
		{"en", "date/short", "M/d/yy"},
		{"en-US", "date/short", "M/d/yy"},
		{"en-GB", "date/short", "dd/MM/y"},
		{"en-GB", "month/format/wide", "January|February|March|April|May|June|July|August|September|October|November|December"},
		{"de-AT", "month/format/wide", "Jänner|Februar|März|April|Mai|Juni|Juli|August|September|Oktober|November|Dezember"},
		{"de-DE", "number/latn/decimal", ","},
		{"de-CH", "number/latn/group", "'"},
		{"zh-TW", "name/t/DE", "德國"},
		{"zh-CN", "name/t/DE", "德国"},
		{"zh-Hans", "date/short", "y/M/d"}, // without a line of its own, before zh-Hans-HK
		{"pt-BR", "number/grouping", "1"},
		{"pt-PT", "number/grouping", "2"},
	} {
		t.Run(c.locale+" "+c.key, func(t *testing.T) {
			l := cldr.Open(c.locale)
			if l == nil {
				t.Fatalf("%s is not there", c.locale)
			}
			if got, ok := l.Find(c.key); !ok || got != c.want {
				t.Errorf("%s %s: %q, want %q", c.locale, c.key, got, c.want)
			}
		})
	}
	for _, name := range []string{"", "xx", "de-XX", "en-us"} {
		t.Run(name, func(t *testing.T) {
			if cldr.Has(name) || cldr.Open(name) != nil {
				t.Errorf("%q is not there", name)
			}
		})
	}
}
