package main

import (
	"strings"
)

// This file writes the time zones: "zone<TAB>primary name|territory|metazone from
// until;…", with times in UTC and an empty time for "always".
func zones(s source) (string, error) {
	keys, err := s.read("cldr-bcp47/bcp47/timezone.json", "keyword", "u", "tz")
	if err != nil {
		return "", err
	}
	metas, err := s.read("cldr-core/supplemental/metaZones.json", "supplemental", "metaZones")
	if err != nil {
		return "", err
	}
	used := map[string]string{}
	metazones(used, "", metas.at("metazoneInfo", "timezone"))
	t := table{}
	for code := range keys {
		entry := keys.at(code)
		if entry == nil || entry.text("_alias") == "" {
			continue
		}
		all := strings.Fields(entry.text("_alias"))
		primary := entry.text("_iana")
		if primary == "" {
			primary = all[0]
		}
		region := entry.text("_region")
		if region == "" {
			region = strings.ToUpper(code[:2])
		}
		for _, name := range all {
			t.put(name, strings.Join([]string{primary, all[0], region, used[all[0]]}, "|"))
		}
	}
	golden, _ := metas["metazones"].([]any)
	for _, item := range golden {
		m, _ := item.(map[string]any)
		zone := node(m).at("mapZone")
		t.put("="+zone.text("_other")+"/"+zone.text("_territory"), zone.text("_type"))
	}
	return t.lines(nil), nil
}

func metazones(used map[string]string, prefix string, n node) {
	for key, value := range n {
		uses, ok := value.([]any)
		if !ok {
			metazones(used, prefix+key+"/", n.at(key))
			continue
		}
		var spans []string
		for _, use := range uses {
			m, _ := use.(map[string]any)
			u := node(m).at("usesMetazone")
			spans = append(spans, strings.Join([]string{u.text("_mzone"), u.text("_from"), u.text("_to")}, ","))
		}
		used[prefix+key] = strings.Join(spans, ";")
	}
}
