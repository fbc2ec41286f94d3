package dictionary_test

import (
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/intl/dictionary"
)

// words are the words of a text, those that are like one with a star.
func words(t testing.TB, text string) []string {
	t.Helper()
	w, err := dictionary.Words(text)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for {
		more, err := w.Next()
		if err != nil {
			t.Fatal(err)
		}
		if !more {
			return list
		}
		value := w.Value()
		if w.Like() {
			value += "*"
		}
		list = append(list, value)
	}
}

// TestWords holds the words to those of workerd.
func TestWords(t *testing.T) {
	for _, c := range []struct{ name, want string }{
		{"Chinese", "我们*|明天*|去*|北京*|图书*|馆*|看书*|。"},
		{"Chinese, traditional", "我們*|明天*|去*|臺北市立*|圖書館*|借書*"},
		{"Chinese with others", "iPhone*| |15*|的*|價格*|是*|US*|$|799,2026*|年*|10*|月*|1*|日*|上市*|!"},
		{"Japanese", "私*|は*|毎朝*|コーヒー*|を*|飲*|み*|ながら*|新聞*|を*|読み*|ます*|。"},
		{"Katakana", "スーパーマーケット*|で*|アイスクリーム*|を*|買*|っ*|た*"},
		{"halfwidth Katakana", "ﾊﾟｿｺﾝ*|と*|ﾌﾟﾘﾝﾀｰ*"},
		{"a square of Katakana", "りんご*|㌔グラム*"},
		{"a sign of repetition and beyond 16 bits", "人々*|は*|𠮷*|野家*|へ*"},
		{"Katakana and an underscore", "カナ_a_*|漢字*"},
		{"Thai", "วัน*|นี้*|อากาศ*|ดี*|มาก*|เรา*|ไป*|เดิน*|เล่น*|ที่*|สวน*|กัน*|เถอะ*"},
		{"Thai signs", "เด็กๆ*|ซื้อ*|ผัก*|ผล*|ไม้*|ฯลฯ*|ที่*|กรุงเทพฯ*"},
		{"Thai with others", "ราคา*| |1,250.50*| |บาท*| |(|VAT*| |7*|%|)| |โทร*|.|02*|-|123*| |😀"},
		{"Thai, four letters", "ไปมา*"},
		{"Thai letters of no word", "กขฃคฅฆงจฉช*"},
		{"Lao", "ມື້*|ນີ້*|ອາກາດ*|ດີ*|ຫຼາຍ*|ພວກ*|ເຮົາ*|ໄປ*|ຕະຫຼາດ*"},
		{"Khmer", "ថ្ងៃ*|នេះ*|អាកាស*|ធាតុ*|ល្អ*|ណាស់*|យើង*|ទៅ*|ផ្សារ*"},
		{"Burmese", "ဒီ*|နေ့*|ရာသီဥတု*|သိပ်*|ကောင်း*|တယ်*|ကျွန်တော်*|တို့*|ဈေးသွား*|မယ်*"},
		{"Hangul", "오늘*| |날씨가*| |좋네요*"},
		{"English", "It*| |can't*| |cost*| |$|3.50*|,| |e*|.|g*|.| |at*| |10*|:|30*|—|or*| |snake_case*|?"},
		{"Hebrew quotation", "צה״ל*| |וג׳ירפה*"},
		{"emoji", "👩\u200d👩\u200d👧\u200d👦| |🇩🇪|🇫🇷| |👍🏽"},
		{"line ends", "a*|\r\n|b*|\n|\n| |c*"},
		{"a mark first", "\u0301|a*"},
		{"empty", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.NewReplacer("|", "", "*", "").Replace(c.want)
			if got := strings.Join(words(t, text), "|"); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

// TestSentences holds the sentences to those of workerd.
func TestSentences(t *testing.T) {
	for _, c := range []struct{ name, language, want string }{
		{"English", "en", "Mr. |Smith paid $3.50, e.g. for tea? |“Yes!” |(He did.) and left... "},
		{"a semicolon", "en", "Τι κάνεις; Καλά. |Εσύ;"},
		{"Greek", "el", "Τι κάνεις; |Καλά. |Εσύ;"},
		{"Japanese", "ja", "行きますか？|はい。「|行く。」|そう"},
		{"lines", "de", "eins\n|zwei\r\n|\u2029|drei"},
		{"nothing", "en", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, err := dictionary.Sentences(strings.ReplaceAll(c.want, "|", ""), c.language)
			if err != nil {
				t.Fatal(err)
			}
			var list []string
			for {
				more, err := s.Next()
				if err != nil {
					t.Fatal(err)
				}
				if !more {
					break
				}
				list = append(list, s.Value())
			}
			if got := strings.Join(list, "|"); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestLongWords: texts without any place that is certain to be between two words are divided piece by piece, and all of them.
func TestLongWords(t *testing.T) {
	for _, c := range []struct {
		name, part, want string
		times            int
	}{
		{"Chinese", "中国", "中国*", 60_000},
		{"Katakana", "ア", "ア*", 40_000},
		{"halfwidth Katakana", "ｶﾞ", "ｶﾞ*", 30_000},
		{"Thai", "ไปมา", "", 30_000},
		{"marks of sound", "か" + strings.Repeat("ﾞ", 100_000), "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := strings.Repeat(c.part, c.times)
			list := words(t, text)
			if got := strings.ReplaceAll(strings.Join(list, ""), "*", ""); got != text {
				t.Errorf("the words are not the text: %d bytes of %d", len(got), len(text))
			}
			for i, w := range list {
				if c.want != "" && w != c.want {
					t.Fatalf("word %d of %d is %q, want %q", i, len(list), w, c.want)
				}
			}
		})
	}
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{
		"", "a", "私は毎朝コーヒーを飲む", "ﾊﾟｿｺﾝ㌔か\u3099", "เด็กๆ ฯลฯ", "ພາສາລາວ", "ភាសាខ្មែរ្", "မြန်မာꩰ", "한글ー〱ー", "𠮷𛀀\u200d\ufe0f", "1,2.3'a_",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		text = strings.ToValidUTF8(text, "\ufffd")
		var all strings.Builder
		for _, w := range words(t, text) {
			all.WriteString(strings.TrimSuffix(w, "*"))
		}
		if strings.ReplaceAll(all.String(), "*", "") != strings.ReplaceAll(text, "*", "") {
			t.Errorf("%q became %q", text, all.String())
		}
	})
}

func BenchmarkWords(b *testing.B) {
	for _, c := range []struct{ name, text string }{
		{"Latin", "The quick brown fox can't jump 3.5 times. "},
		{"Chinese", "我们明天去北京图书馆看书,然后回家。"},
		{"Japanese", "私は毎朝コーヒーを飲みながら新聞を読みます。"},
		{"Thai", "วันนี้อากาศดีมากเราไปเดินเล่นที่สวนกันเถอะ "},
		{"a Thai letter", "ก"},
		{"a Chinese word", "中国"},
	} {
		text := strings.Repeat(c.text, 100_000/len(c.text))
		b.Run(c.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				w, err := dictionary.Words(text)
				if err != nil {
					b.Fatal(err)
				}
				for more := true; more; {
					if more, err = w.Next(); err != nil {
						b.Fatal(err)
					}
				}
			}
		})
	}
}
