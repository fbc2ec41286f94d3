package wire

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// This file writes the bindings of a Worker in workerd's configuration.

// Workerd returns two lists of workerd's text configuration: the services that reach the bindings over s, named "wire:" and the
// value of the header Pages-Binding, and the bindings of a Worker to them. Secrets are bindings with their values: keep the configuration
// as secret as they are. The front door is the service "wire:site"; "wire:outbound" is for globalOutbound, and "wire:cache" for
// cacheApiOutbound, if they are offered.
func (s *Server) Workerd() (services, bindings string) {
	var all, bound strings.Builder
	named := *s.handler.bound.Load()
	for _, key := range slices.Sorted(maps.Keys(named)) {
		b := named[key]
		headers := [][2]string{{versionHeader, Version}, {bindingHeader, key}}
		if s.handler.o.Token != "" {
			headers = append(headers, [2]string{tokenHeader, s.handler.o.Token})
		}
		var inject []string
		for _, header := range headers {
			inject = append(inject, fmt.Sprintf("(name = %s, value = %s)", Text(header[0]), Text(header[1])))
		}
		service := Text("wire:" + key)
		style := "forwardedProtoHeader = " + Text(protoHeader)
		if b.kind == "outbound" || b.kind == "cache" {
			style = "style = proxy"
		}
		fmt.Fprintf(&all, "(name = %s, external = (address = %s, http = (%s, injectRequestHeaders = [%s]))),\n",
			service, Text(s.Address), style, strings.Join(inject, ", "))
		if value := workerdBinding(b.kind, service); value != "" {
			fmt.Fprintf(&bound, "(name = %s, %s),\n", Text(b.name), value)
		}
	}
	secrets := s.handler.o.Bindings.Secrets
	for _, name := range slices.Sorted(maps.Keys(secrets)) {
		fmt.Fprintf(&bound, "(name = %s, text = %s),\n", Text(name), Text(secrets[name]))
	}
	return all.String(), bound.String()
}

// workerdBinding is the value of a binding to a service; "" for a service without a name in the Worker.
func workerdBinding(kind, service string) string {
	wrapped := func(module string) string {
		return fmt.Sprintf(`wrapped = (moduleName = "cloudflare-internal:%s", innerBindings = [(name = "fetcher", service = %s)])`,
			module, service)
	}
	switch kind {
	case "kv":
		return "kvNamespace = " + service
	case "r2":
		return "r2Bucket = " + service
	case "d1":
		return wrapped("d1-api")
	case "images":
		return wrapped("images-api")
	case "assets":
		return "service = " + service
	}
	return ""
}

// Text encodes text as a literal of Cap'n Proto's text format, in ASCII: other bytes are escaped one by one.
func Text(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(text) {
		switch c := text[i]; {
		case c == '"' || c == '\\':
			b.WriteByte('\\')
			b.WriteByte(c)
		case c < ' ' || c > '~':
			b.WriteString(`\x` + strconv.FormatUint(uint64(c)+0x100, 16)[1:])
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return b.String()
}
