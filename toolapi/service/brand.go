package service

import (
	"database/sql"
	"slices"

	"github.com/pages-toolchain/pages/toolapi"
)

// brandProfileStatus is brand_profile.status (platform document, section 4.9).
func (c *call) brandProfileStatus(toolapi.NoArgs) (p toolapi.BrandProfile, err error) {
	var email, phone string
	p.ProfileExists, err = c.queryOne("SELECT display_name, status, booking_link, booking_email, booking_phone FROM "+
		"brand_profiles WHERE workspace_id = ?",
		[]any{c.in.id}, &p.DisplayName, &p.Status, &p.BookingLink, &email, &phone)
	if err != nil {
		return p, err
	}
	if !p.ProfileExists {
		p.Status = "missing"
	}
	p.BookingContactEmail, p.BookingContactPhone = email != "", phone != ""
	filled, err := list(c.tx, func(rows *sql.Rows, key *string) error { return rows.Scan(key) },
		"SELECT key FROM brand_sections WHERE workspace_id = ? AND trim(text) <> ''", c.in.id)
	for _, key := range brandSections {
		s := toolapi.Section{Key: key, Filled: slices.Contains(filled, key)}
		p.Sections = append(p.Sections, s)
		if s.Filled {
			p.SectionsFilled++
		}
	}
	p.SectionsTotal = len(brandSections)
	return p, err
}
