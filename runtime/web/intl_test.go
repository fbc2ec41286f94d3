package web_test

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// evaluate runs expressions in one Worker and returns the texts of their values;
// "throws NAME" for one that throws.
func evaluate(t *testing.T, expressions []string) []string {
	t.Helper()
	code := `const all = [` + strings.Join(wrapped(expressions), ",\n") + `];
export default { fetch() {
	return Response.json(all.map((f) => {
		try {
			return String(f()).toWellFormed();
		} catch (error) {
			return "throws " + error.name;
		}
	}));
} };`
	w := webtest.Serve(t, code, web.Options{})
	_, body := w.Get("/")
	var out []string
	if err := json.Unmarshal([]byte(body), &out); err != nil || len(out) != len(expressions) {
		t.Fatalf("%.300s: %v, %v", body, err, w.Errors())
	}
	return out
}

func wrapped(expressions []string) []string {
	var out []string
	for _, e := range expressions {
		out = append(out, "() => ("+e+")")
	}
	return out
}

// TestIntl compares with answers that Node 20 (ICU 78, CLDR 48) gave, with the common
// spaces that workerd has in dates for the narrow ones of CLDR and its halves of the day in
// Korean, and of durations with workerd's own, where those are the standard's: one line "expression<TAB>text" each.
func TestIntl(t *testing.T) {
	var text []byte
	for _, name := range []string{"testdata/intl.txt", "testdata/intl-duration.txt"} {
		part, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		text = append(text, part...)
	}
	var expressions, want []string
	for line := range strings.Lines(string(text)) {
		expression, answer, ok := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if !ok {
			t.Fatalf("no tab: %s", line)
		}
		expressions, want = append(expressions, expression), append(want, answer)
	}
	if len(want) < 1000 {
		t.Fatalf("%d answers only", len(want))
	}
	for i, got := range evaluate(t, expressions) {
		if got != want[i] {
			t.Errorf("%s\n got %s\nwant %s", expressions[i], got, want[i])
		}
	}
}

// An option without data is an error that names it, and a fallback gives a warning.
func TestIntlHonest(t *testing.T) {
	for _, c := range []struct{ name, expression, want string }{
		{"the Chinese calendar", `new Intl.DateTimeFormat("en", { calendar: "chinese" })`, "throws Error"},
		{"the Korean calendar", `new Intl.DateTimeFormat("en-u-ca-dangi")`, "throws Error"},
		{
			"calendars of locales without their own",
			`new Intl.DateTimeFormat("my", { calendar: "buddhist" }).format(0) +
				new Intl.DateTimeFormat("gl", { calendar: "roc", dateStyle: "full" }).format(0)`,
			"BE ၀၁/၀၁/၂၅၁၃xoves, 1 de xaneiro de 59 ROC",
		},
		{
			"calendars that are there",
			`Intl.supportedValuesOf("calendar").join()`,
			"buddhist,coptic,ethioaa,ethiopic,gregory,hebrew,indian,islamic,islamic-civil,islamic-rgsa,islamic-tbla,islamic-umalqura,iso" +
				"8601,japanese,persian,roc",
		},
		{"an unknown calendar", `new Intl.DateTimeFormat("en", { calendar: "nonsense" }).resolvedOptions().calendar`, "gregory"},
		{"the ISO calendar", `new Date(0).toLocaleDateString("de", { calendar: "iso8601" })`, "1970-01-01"},
		{
			"long dates",
			`["cs-CZ", "da-DK", "fi", "el", "uk"].map((l) => new Date(0).toLocaleDateString(l, { dateStyle: "long" })).join()`,
			"1. ledna 1970,1. januar 1970,1. tammikuuta 1970,1 Ιανουαρίου 1970,1 січня 1970 р.",
		},
		{
			"plural forms",
			`["cs", "sl", "lt", "lv"].map((l) => [1, 2, 5, 1.5].map((n) => new Intl.PluralRules(l).select(n))).join()`,
			"one,few,other,many,one,two,other,few,one,few,few,many,one,other,other,other",
		},
		{
			"collation",
			`["nb", "nb-NO", "no", "sr-Latn", "bg", "cs"].map((l) => ["ch", "å", "ж", "ø", "h", "č", "æ",
				"z"].sort(new Intl.Collator(l).compare).join("")).join()`,
			"čchhzæøåж,čchhzæøåж,čchhzæøåж,åæchčhøzж,жåæčchhøz,åæčhchøzж",
		},
		{"Hebrew lists", `["ב", "b"].map((last) => new Intl.ListFormat("he").format(["א", last])).join()`, "א וב,א ו-b"},
		{"the ISO calendar with a month", `new Intl.DateTimeFormat("en", { calendar: "iso8601", month: "long" })`, "throws Error"},
		{"collation for searching", `new Intl.Collator("sv", { usage: "search" })`, "throws Error"},
		{
			"words by dictionaries, in any locale",
			`[...new Set([undefined, "ja", "zh", "th", "en"].map((l) => ["東京に住んでいます。", "タヌキとabc", "ภาษาไทย, และ", "ភាសាខ្មែរ",
				"ພາສາລາວ 12", "မြန်မာဘာသာ", "e.g. 10:30"].map((s) =>
				[...new Intl.Segmenter(l, { granularity: "word" }).segment(s)].map((s) =>
				s.segment + (s.isWordLike ? "*" : "")).join("|")).join(" / ")))].join()`,
			"東京*|に*|住*|んで*|い*|ます*|。 / タヌキ*|と*|abc* / ภาษา*|ไทย*|,| |และ* / ភាសាខ្មែរ* / ພາສາ*|ລາວ*| |12* / " +
				"မြန်မာဘာသာ* / e*|.|g*|.| |10*|:|30*",
		},
		{
			"places of words, in UTF-16",
			`((s) => [...s].map((w) => w.index + w.segment).join("|").toWellFormed() + " " +
				[0, 1, 2, 5, 6, 9, 10, 99, -1].map((n) => s.containing(n)?.index).join())(
				new Intl.Segmenter("ja", { granularity: "word" }).segment("𠮷野家で\ud800食べた"))`,
			"0𠮷|2野家|4で|5�|6食|7べた 0,0,2,5,6,,,,",
		},
		{
			"sentences in Greek",
			`["el", "el-GR", "en"].map((l) =>
				[...new Intl.Segmenter(l, { granularity: "sentence" }).segment("Τι κάνεις; Καλά.")].length).join()`,
			"2,2,1",
		},
		{"an unknown locale", `new Intl.NumberFormat("xx").resolvedOptions().locale`, "en-US"},
		{"a locale with a private part", `new Intl.NumberFormat("de-LI-x-y").resolvedOptions().locale`, "de-LI"},
		{"supported locales", `Intl.DateTimeFormat.supportedLocalesOf(["ne", "de-XX", "th"]).join()`, "de-XX,th"},
		{"a malformed tag", `new Intl.NumberFormat("not a tag")`, "throws RangeError"},
		{"currency style without a currency", `new Intl.NumberFormat("en", { style: "currency" })`, "throws TypeError"},
		{"a malformed currency", `new Intl.NumberFormat("en", { style: "currency", currency: "EURO" })`, "throws RangeError"},
		{
			"digits that contradict",
			`new Intl.NumberFormat("en", { maximumFractionDigits: 1, minimumFractionDigits: 2 })`,
			"throws RangeError",
		},
		{"too many digits", `(1).toLocaleString("en", { maximumFractionDigits: 101 })`, "throws RangeError"},
		{"a number too large", `new Intl.NumberFormat("en").format("1e100000")`, "throws RangeError"},
		{"an unknown time zone", `new Date(0).toLocaleString("en", { timeZone: "Europe/Nowhere" })`, "throws RangeError"},
		{"an offset too large", `new Date(0).toLocaleString("en", { timeZone: "+24:00" })`, "throws RangeError"},
		{"an offset", `new Date(0).toLocaleString("en-GB", { timeZone: "+0530", timeStyle: "long" })`, "05:30:00 GMT+5:30"},
		{
			"a time zone in other letters",
			`new Intl.DateTimeFormat("en", { timeZone: "EUROPE/berlin" }).resolvedOptions().timeZone`,
			"Europe/Berlin",
		},
		{"an invalid date", `new Intl.DateTimeFormat("en").format(NaN)`, "throws RangeError"},
		{"an invalid date as text", `String(new Date(NaN).toLocaleString("en"))`, "Invalid Date"},
		{"a style and a field", `new Intl.DateTimeFormat("en", { dateStyle: "long", hour: "numeric" })`, "throws TypeError"},
		{"a foreign object", `Intl.NumberFormat.prototype.resolvedOptions.call({})`, "throws TypeError"},
		{"an unknown key", `Intl.supportedValuesOf("numbers")`, "throws RangeError"},
		{
			"time zones",
			`((z) => [z.length > 400, ["Asia/Calcutta", "Europe/Kiev", "Asia/Kolkata", "UTC", "Etc/GMT+5"].map((n) => +z.includes(n)),
				new Intl.Locale("en-UA").getTimeZones(), new Intl.Locale("en-XK").getTimeZones()].join())(
				Intl.supportedValuesOf("timeZone"))`,
			"true,1,1,0,0,0,Europe/Kiev,Europe/Simferopol,",
		},
		{
			"links of time zones",
			`["Etc/GMT", "zulu", "US/Pacific", "Asia/Kolkata", "EUROPE/KYIV", "Etc/GMT+5", "est", "EST5EDT", "+0530"].map((timeZone) =>
				new Intl.DateTimeFormat("en", { timeZone }).resolvedOptions().timeZone).join()`,
			"UTC,UTC,America/Los_Angeles,Asia/Calcutta,Europe/Kiev,Etc/GMT+5,America/Panama,EST5EDT,+05:30",
		},
		{"a list in German", `[1234.5, 6n, new Date(0), null].toLocaleString("de-DE")`, "1.234,5,6,1.1.1970, 00:00:00,"},
		{"a Float64Array", `new Float64Array([0.5, 1e6]).toLocaleString("en", { style: "percent" })`, "50%,100,000,000%"},
		{
			"long numbers",
			`Intl.NumberFormat("en").format(12345678901234567890n) + Intl.NumberFormat("en").format("0.1234567890123456789")`,
			"12,345,678,901,234,567,8900.123",
		},
		{"the shape of Intl", `Object.prototype.toString.call(Intl) + Intl.Collator.name + Intl.Collator.length`, "[object Intl]Collator0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := evaluate(t, []string{c.expression})[0]; got != c.want {
				t.Errorf("%s: %q, want %q", c.expression, got, c.want)
			}
		})
	}
}

// A formatter made while the module is evaluated also works in an isolate that starts from the Worker's image.
func TestIntlOutlivesImage(t *testing.T) {
	w := webtest.Serve(t, `const number = new Intl.NumberFormat("de", { style: "currency", currency: "EUR" }), { format } = number;
export default { fetch() { return new Response(format(1234.5) + number.formatToParts(1).length); } };`, web.Options{})
	for range 2 {
		if _, got := w.Get("/"); got != "1.234,50\u00a0€5" {
			t.Errorf("%q", got)
		}
	}
}
