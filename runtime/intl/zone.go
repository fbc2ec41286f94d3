package intl

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // the same zones on every machine

	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

// zoneEntry is CLDR's entry of a time zone.
type zoneEntry struct {
	primary string // the IANA zone that it is a link to, or itself
	key     string // CLDR's name for it, in keys
	region  string
	spans   string // metazones: "name,from,until;…"
}

// zoneNames are the zones by lower-case name, made at the first use.
var zoneNames = sync.OnceValue(func() map[string]string { //nolint:gochecknoglobals // a cache of embedded data
	names := map[string]string{}
	for name := range cldr.Zones().Under("") {
		if !strings.HasPrefix(name, "=") && name != "Etc/Unknown" {
			names[strings.ToLower(name)] = name
		}
	}
	return names
})

func findZone(name string) (zoneEntry, bool) {
	line, ok := cldr.Zones().Find(name)
	if !ok {
		return zoneEntry{}, false
	}
	f := strings.SplitN(line, "|", 4)
	return zoneEntry{primary: f[0], key: f[1], region: f[2], spans: f[3]}, true
}

// zoneName is the identifier that an option names: the zone that an IANA name in any case is a link to, by CLDR's name for it, or
// an offset, "+01:00". Empty is UTC, the zone of Workers.
func zoneName(asked string) (string, error) {
	if asked == "" {
		return "UTC", nil
	}
	if minutes, ok := parseOffset(asked); ok {
		sign := '+'
		if minutes < 0 {
			sign, minutes = '-', -minutes
		}
		return fmt.Sprintf("%c%02d:%02d", sign, minutes/60, minutes%60), nil
	}
	name, ok := zoneNames()[strings.ToLower(asked)]
	if !ok || len(name) != len(asked) {
		return "", rangeError("Invalid time zone specified: " + asked)
	}
	switch e, _ := findZone(name); e.key {
	case "Etc/UTC", "Etc/GMT":
		return "UTC", nil
	case "", "Etc/Unknown":
		return name, nil
	default:
		if !strings.Contains(name, "/") && strings.HasSuffix(name, "DT") {
			return name, nil // EST5EDT and its like: zones of their own in production
		}
		return e.key, nil
	}
}

// parseOffset reads UTCOffset without seconds: "+01", "+0100", "+01:00"; minutes.
func parseOffset(s string) (minutes int, ok bool) {
	if len(s) < 3 || s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	digits := s[1:]
	if len(digits) == 5 && digits[2] == ':' {
		digits = digits[:2] + digits[3:]
	}
	if len(digits) != 2 && len(digits) != 4 || !numeric(digits) {
		return 0, false
	}
	digits += "00"
	hour, minute := int(digits[0]-'0')*10+int(digits[1]-'0'), int(digits[2]-'0')*10+int(digits[3]-'0')
	if hour > 23 || minute > 59 {
		return 0, false
	}
	if s[0] == '-' {
		return -(hour*60 + minute), true
	}
	return hour*60 + minute, true
}

// location loads a zone that zoneName returned.
func location(name string) (*time.Location, error) {
	if minutes, ok := parseOffset(name); ok {
		return time.FixedZone(name, minutes*60), nil
	}
	e, _ := findZone(name)
	for _, try := range []string{name, e.primary, e.key} {
		if l, err := time.LoadLocation(try); err == nil && try != "" {
			return l, nil
		}
	}
	return nil, rangeError("Invalid time zone specified: " + name)
}

// daylight reports whether daylight saving time is in use: the clock is put forward. Some zones are defined the other way round,
// with a winter time before the standard one.
func daylight(t time.Time) bool {
	_, offset := t.Zone()
	other := t.AddDate(0, 6, 0)
	_, otherOffset := other.Zone()
	if t.IsDST() != other.IsDST() && offset != otherOffset {
		return offset > otherOffset
	}
	return t.IsDST()
}

// metazone is the metazone that a zone belonged to at an instant; "" for none.
func (e zoneEntry) metazone(t time.Time) string {
	at := t.UTC().Format("2006-01-02 15:04")
	switch year := t.UTC().Year(); {
	case year > 9999:
		at = "9999-12-31 00:00"
	case year < 1970:
		at = "0000"
	}
	for span := range strings.SplitSeq(e.spans, ";") {
		f := strings.SplitN(span, ",", 3)
		if len(f) == 3 && f[1] == "" {
			f[1] = "1970-01-01 00:00" // metazones are of no use before that
		}
		if len(f) == 3 && f[1] <= at && (f[2] == "" || at < f[2]) {
			return f[0]
		}
	}
	return ""
}

// primaryZones lists the zones that are not links, by CLDR's names, sorted.
func primaryZones() []string {
	out := []string{}
	for _, name := range zoneNames() {
		if e, _ := findZone(name); e.key == name && strings.Contains(name, "/") && !strings.HasPrefix(name, "Etc/") {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func zonesOf(region string) []string {
	out := []string{}
	for _, name := range primaryZones() {
		if e, _ := findZone(name); e.region == region {
			out = append(out, name)
		}
	}
	return out
}

// zoneText writes the name of the zone (UTS 35, part 4, section 6).
func (f *dateFormat) zoneText(t time.Time, form field) string {
	long := form.length == 4
	width := "short"
	if long {
		width = "long"
	}
	e, known := findZone(f.s.TimeZone)
	if f.s.TimeZone == "UTC" {
		e, known = findZone("Etc/UTC")
	}
	switch {
	case form.letter == 'O', !known, form.letter == 'v' && e.key == "Etc/UTC":
		return f.offsetText(t, long)
	case form.letter == 'v':
		return f.genericZone(t, e, width)
	}
	kind := "standard"
	if daylight(t) {
		kind = "daylight"
	}
	if name := f.zoneForm(e, t, width, kind); name != "" {
		return name
	}
	return f.offsetText(t, long)
}

// zoneForm is a zone's own name, otherwise its metazone's; "" for none.
func (f *dateFormat) zoneForm(e zoneEntry, t time.Time, width, kind string) string {
	if name, ok := f.data.Find("zone/" + e.key + "/" + width + "/" + kind); ok {
		return name
	}
	return f.data.Text("metazone/" + e.metazone(t) + "/" + width + "/" + kind)
}

// genericZone is a zone's name for summer and winter: "Pacific Time", otherwise by its place, "Germany Time".
func (f *dateFormat) genericZone(t time.Time, e zoneEntry, width string) string {
	meta := e.metazone(t)
	name := f.zoneForm(e, t, width, "generic")
	hasSummer := daylight(t) || daylight(t.AddDate(0, 6, 0)) || daylight(t.AddDate(0, -6, 0))
	if name == "" && !hasSummer {
		name = f.zoneForm(e, t, width, "standard")
	}
	if name != "" {
		golden, ok := cldr.Zones().Find("=" + meta + "/" + f.region) // the zone that represents the metazone in the region
		if !ok {
			golden, _ = cldr.Zones().Find("=" + meta + "/001")
		}
		if golden == e.key || meta == "" || sameOffset(golden, t) {
			return name
		}
		return glue(f.data.Text("zone/fallbackFormat"), name, f.place(e))
	}
	if strings.HasPrefix(e.key, "Etc/") {
		return f.offsetText(t, width == "long")
	}
	return strings.Replace(f.data.Text("zone/regionFormat"), "{0}", f.place(e), 1)
}

func sameOffset(zone string, t time.Time) bool {
	l, err := location(zone)
	if err != nil {
		return false
	}
	_, here := t.Zone()
	_, there := t.In(l).Zone()
	return here == there
}

// place is the country if the zone is its only one, otherwise the city.
func (f *dateFormat) place(e zoneEntry) string {
	if zones := zonesOf(e.region); len(zones) == 1 || slices.Contains(soleZones, e.primary) {
		if name, ok := f.data.Find("name/t/" + e.region); ok {
			return name
		}
	}
	if city, ok := f.data.Find("zone/" + e.key + "/city"); ok {
		return city
	}
	return strings.ReplaceAll(e.key[strings.LastIndexByte(e.key, '/')+1:], "_", " ")
}

// soleZones represent their countries although these have other zones (CLDR's primaryZones).
var soleZones = []string{ //nolint:gochecknoglobals // a table
	"America/Santiago", "Asia/Shanghai", "Asia/Kuala_Lumpur", "Asia/Tashkent", "Europe/Berlin", "Europe/Madrid", "Europe/Lisbon",
	"America/Guayaquil", "Pacific/Majuro", "Pacific/Auckland", "Europe/Kyiv",
}

// offsetText is "GMT+1" or "GMT+01:00".
func (f *dateFormat) offsetText(t time.Time, long bool) string {
	_, seconds := t.Zone()
	positive, negative, _ := strings.Cut(f.data.Text("zone/hourFormat"), ";")
	format := positive
	if seconds < 0 {
		format, seconds = negative, -seconds
	}
	hour, minute, second := seconds/3600, seconds/60%60, seconds%60
	h, rest := f.number.localizeDigits(strconv.Itoa(hour)), ""
	at := strings.Index(format, "HH")
	if long {
		h = f.number.localizeDigits(fmt.Sprintf("%02d", hour))
	} else if at < 0 {
		at = strings.IndexByte(format, 'H')
	}
	before, after := format[:max(at, 0)], strings.TrimLeft(format[max(at, 0):], "H")
	separator, tail, _ := strings.Cut(after, "mm")
	if long || minute > 0 || second > 0 {
		rest = separator + f.number.localizeDigits(fmt.Sprintf("%02d", minute))
	}
	if second > 0 {
		rest += separator + f.number.localizeDigits(fmt.Sprintf("%02d", second))
	}
	return strings.Replace(f.data.Text("zone/gmtFormat"), "{0}", before+h+rest+tail, 1)
}
