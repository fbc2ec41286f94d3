package site

import "time"

// timeLayout is how times are written, in documents and in the site's own
// table: RFC 3339 in UTC with three decimals, always of one length, so that
// their order as text is their order in time.
const timeLayout = "2006-01-02T15:04:05.000Z"

// Stamp is a moment of a document: "2026-05-06T07:08:09.120Z".
type Stamp struct{ time.Time }

// MarshalJSON writes it as a string of one length.
func (s Stamp) MarshalJSON() ([]byte, error) {
	return s.UTC().AppendFormat(nil, `"`+timeLayout+`"`), nil
}
