package intl

import (
	"slices"
	"strings"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/intl/cldr"
)

// dateFields are the component options of a DateTimeFormat, in the order of resolvedOptions; "" and 0 are undefined.
type dateFields struct {
	Weekday                string `json:"weekday,omitempty"`
	Era                    string `json:"era,omitempty"`
	Year                   string `json:"year,omitempty"`
	Month                  string `json:"month,omitempty"`
	Day                    string `json:"day,omitempty"`
	DayPeriod              string `json:"dayPeriod,omitempty"`
	Hour                   string `json:"hour,omitempty"`
	Minute                 string `json:"minute,omitempty"`
	Second                 string `json:"second,omitempty"`
	FractionalSecondDigits int    `json:"fractionalSecondDigits,omitempty"`
	TimeZoneName           string `json:"timeZoneName,omitempty"`
}

type dateOptions struct {
	dateFields
	Calendar        string `json:"calendar"`
	NumberingSystem string `json:"numberingSystem"`
	Hour12          *bool  `json:"hour12"`
	HourCycle       string `json:"hourCycle"`
	TimeZone        string `json:"timeZone"`
	DateStyle       string `json:"dateStyle"`
	TimeStyle       string `json:"timeStyle"`
	Required        string `json:"required"` // date, time or any
	Defaults        string `json:"defaults"` // date, time or all
}

// dateSpec has the resolved options of a DateTimeFormat, in the order of resolvedOptions; JavaScript does not show the last two.
type dateSpec struct {
	Locale          string `json:"locale"`
	Calendar        string `json:"calendar"`
	NumberingSystem string `json:"numberingSystem"`
	TimeZone        string `json:"timeZone"`
	HourCycle       string `json:"hourCycle,omitempty"`
	Hour12          *bool  `json:"hour12,omitempty"`
	dateFields
	DateStyle string `json:"dateStyle,omitempty"`
	TimeStyle string `json:"timeStyle,omitempty"`

	Pattern string `json:"pattern"`
	// Missing is a calendar that was asked for and is not computed.
	Missing string `json:"missing,omitempty"`
}

// usable refuses dates of another calendar than the requested one. At the top level, where packages detect features, it is always nil: no
// client sees those dates.
func (s *dateSpec) usable(c *engine.Call) error {
	if scope := c.Scope(); s.Missing == "" || scope != nil && scope.ClockStopped() {
		return nil
	}
	return errMissing("the calendar " + s.Missing)
}

func resolveDate(requested []string, o dateOptions) (*dateSpec, error) {
	r, err := resolve(requested)
	if err != nil {
		return nil, err
	}
	s := &dateSpec{DateStyle: o.DateStyle, TimeStyle: o.TimeStyle}
	s.Calendar, s.Missing = calendarOf(r, o.Calendar)
	s.NumberingSystem = r.numberingSystem(o.NumberingSystem)
	hc := r.hourCycle(o)
	s.Locale = r.tag.String()
	if s.TimeZone, err = zoneName(o.TimeZone); err != nil {
		return nil, err
	}
	fields, err := o.fields()
	if err != nil {
		return nil, err
	}
	if s.Calendar == "iso8601" { // which has numbers alone, and no weekday
		words := map[string]string{"weekday": fields.Weekday, "era": fields.Era, "month": fields.Month, "dateStyle": s.DateStyle}
		for name, value := range words {
			if value != "" && (name == "weekday" || value != "numeric" && value != "2-digit" && value != "short") {
				return nil, errMissing("the calendar iso8601 with " + name + " \"" + value + "\"")
			}
		}
	}
	s.Pattern = s.choosePattern(r.data.Calendar(s.Calendar), fields, hc)
	s.describe(hc)
	return s, nil
}

// calendarOf resolves -u-ca-. missing is a calendar that was asked for and is not computed: the default is another date.
func calendarOf(r *resolution, option string) (calendar, missing string) {
	known := func(name string) bool { return name == "gregory" || name == "iso8601" || calendars[name] != nil }
	inTag := ""
	if r.from != nil {
		inTag, _ = r.from.keyword("ca")
	}
	for _, asked := range []string{canonicalOption("ca", option), inTag} {
		if asked != "" && !known(asked) && slices.Contains(otherCalendars, asked) {
			missing = asked
			break
		}
		if asked != "" && known(asked) {
			break
		}
	}
	return r.keyword("ca", option, preferredCalendars(r.region())[0], known), missing
}

// otherCalendars are those of CLDR that this package does not compute.
var otherCalendars = []string{"chinese", "dangi"} //nolint:gochecknoglobals // a table

var hourLetters = map[string]byte{"h11": 'K', "h12": 'h', "h23": 'H', "h24": 'k'} //nolint:gochecknoglobals // a table

// hourCycle resolves the clock: hour12 before hourCycle before -u-hc- before the region's custom.
func (r *resolution) hourCycle(o dateOptions) string {
	custom := regionHourCycles(r.tag.language, r.region())[0]
	option := o.HourCycle
	if o.Hour12 != nil {
		option = ""
	}
	hc := r.keyword("hc", option, custom, func(s string) bool { return hourLetters[s] != 0 })
	if o.Hour12 == nil {
		return hc
	}
	r.tag.keywords = slices.DeleteFunc(r.tag.keywords, func(k keyword) bool { return k.key == "hc" })
	twelve := custom == "h11" || custom == "h12"
	switch {
	case *o.Hour12 == twelve:
		return custom
	case !*o.Hour12:
		return "h23"
	case r.region() == "JP":
		return "h11"
	}
	return "h12"
}

// regionHourCycles are the clocks in use in a region, the preferred one first.
func regionHourCycles(language, region string) []string {
	var list string
	for _, key := range []string{language + "-" + region, region, "001"} {
		found := false
		if list, found = cldr.Common().Find("hours/" + key); found {
			break
		}
	}
	var out []string
	for form := range strings.FieldsSeq(list) {
		for name, letter := range hourLetters {
			if form[0] == letter && !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out
}

// fields are the options with the defaults of ToDateTimeOptions.
func (o dateOptions) fields() (dateFields, error) {
	f := o.dateFields
	hasDate := f.Weekday != "" || f.Year != "" || f.Month != "" || f.Day != ""
	hasTime := f.DayPeriod != "" || f.Hour != "" || f.Minute != "" || f.Second != "" || f.FractionalSecondDigits != 0
	if o.DateStyle != "" || o.TimeStyle != "" {
		if hasDate || hasTime || f.Era != "" || f.TimeZoneName != "" {
			return f, engine.TypeError("Can't set option when dateStyle or timeStyle is used")
		}
		if o.Required == "date" && o.TimeStyle != "" || o.Required == "time" && o.DateStyle != "" {
			return f, engine.TypeError("Invalid option : %sStyle", map[string]string{"date": "time", "time": "date"}[o.Required])
		}
		return f, nil
	}
	if hasDate && o.Required != "time" || hasTime && o.Required != "date" {
		return f, nil
	}
	if o.Defaults != "time" {
		f.Year, f.Month, f.Day = "numeric", "numeric", "numeric"
	}
	if o.Defaults != "date" {
		f.Hour, f.Minute, f.Second = "numeric", "numeric", "numeric"
	}
	return f, nil
}

func repeatLetter(c byte, value string, lengths map[string]int) string {
	return strings.Repeat(string(c), lengths[value])
}

func (f dateFields) skeleton(hour byte) string {
	text := map[string]int{"short": 3, "long": 4, "narrow": 5}
	period := map[string]int{"short": 1, "long": 4, "narrow": 5}
	number := map[string]int{"numeric": 1, "2-digit": 2}
	month := map[string]int{"numeric": 1, "2-digit": 2, "short": 3, "long": 4, "narrow": 5}
	zone := map[string]string{
		"short": "z", "long": "zzzz", "shortOffset": "O", "longOffset": "OOOO", "shortGeneric": "v", "longGeneric": "vvvv",
	}
	s := repeatLetter('E', f.Weekday, text) + repeatLetter('G', f.Era, text) +
		repeatLetter('y', f.Year, number) + repeatLetter('M', f.Month, month) +
		repeatLetter('d', f.Day, number)
	if f.Hour == "" || hour == 'h' || hour == 'K' {
		s += repeatLetter('B', f.DayPeriod, period)
	}
	return s + repeatLetter(hour, f.Hour, number) + repeatLetter('m', f.Minute, number) + repeatLetter('s', f.Second, number) +
		strings.Repeat("S", f.FractionalSecondDigits) + zone[f.TimeZoneName]
}

func (s *dateSpec) choosePattern(data *cldr.Locale, f dateFields, hc string) string {
	hour := hourLetters[hc]
	if s.DateStyle == "" && s.TimeStyle == "" {
		iso := ""
		if s.Calendar == "iso8601" {
			for _, part := range []struct{ value, pattern string }{{f.Year, "-y"}, {f.Month, "-MM"}, {f.Day, "-dd"}} {
				if part.value != "" {
					iso += part.pattern
				}
			}
			iso = strings.TrimPrefix(iso, "-")
			f.Year, f.Month, f.Day = "", "", ""
		}
		rest := withHours(patternsOf(data).best(parseSkeleton(f.skeleton(hour))), hour)
		if iso != "" && f != (dateFields{}) {
			return glue(data.Text("glue/short"), iso, rest)
		}
		return iso + rest
	}
	date, time := "", ""
	switch {
	case s.DateStyle != "" && s.Calendar == "iso8601":
		date = "y-MM-dd"
	case s.DateStyle != "":
		date = data.Text("date/" + s.DateStyle)
	}
	if s.TimeStyle != "" {
		time = data.Text("time/" + s.TimeStyle)
		if sk := parseSkeleton(time); sk[fieldHour].letter != hour { // another clock than the locale's own
			sk[fieldHour].letter, sk[fieldPeriod] = hour, field{}
			time = withHours(patternsOf(data).best(parseSkeleton(sk.String())), hour)
		}
	}
	switch {
	case date == "":
		return time
	case time == "":
		return date
	}
	key := "glueat/" + s.DateStyle
	if _, ok := data.Find(key); !ok {
		key = "glue/" + s.DateStyle
	}
	return glue(data.Text(key), date, time)
}

// describe reads the resolved options off the pattern.
func (s *dateSpec) describe(hc string) {
	sk := parseSkeleton(s.Pattern)
	if sk[fieldHour].length > 0 {
		s.HourCycle = hc
		twelve := hc == "h11" || hc == "h12"
		s.Hour12 = &twelve
	}
	if s.DateStyle != "" || s.TimeStyle != "" {
		return
	}
	text := func(f field) string {
		return map[int]string{0: "", 4: "long", 5: "narrow"}[f.length]
	}
	number := func(f field) string {
		switch {
		case f.length == 0:
			return ""
		case f.length == 2:
			return "2-digit"
		case f.length == 1 || f.isNumeric():
			return "numeric"
		case text(f) != "":
			return text(f)
		}
		return "short"
	}
	word := func(f field) string {
		if f.length == 0 || text(f) != "" {
			return text(f)
		}
		return "short"
	}
	if sk[fieldEra].length < 3 { // the pattern's own, not asked for
		sk[fieldEra] = field{}
	}
	s.Weekday, s.Era = word(sk[fieldWeekday]), word(sk[fieldEra])
	s.Year, s.Month, s.Day = number(sk[fieldYear]), number(sk[fieldMonth]), number(sk[fieldDay])
	if sk[fieldPeriod].letter == 'B' {
		s.DayPeriod = word(sk[fieldPeriod])
	}
	s.Hour, s.Minute, s.Second = number(sk[fieldHour]), number(sk[fieldMinute]), number(sk[fieldSecond])
	s.FractionalSecondDigits = sk[fieldFraction].length
	if z := sk[fieldZone]; z.length > 0 {
		s.TimeZoneName = map[field]string{
			{'z', 1}: "short", {'z', 4}: "long", {'O', 1}: "shortOffset", {'O', 4}: "longOffset",
			{'v', 1}: "shortGeneric", {'v', 4}: "longGeneric",
		}[z]
	}
}
