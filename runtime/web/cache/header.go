package cache

import (
	"net/http"
	"slices"
)

func headerOf(flat []string) http.Header {
	header := http.Header{}
	for i := 0; i+1 < len(flat); i += 2 {
		header.Add(flat[i], flat[i+1])
	}
	return header
}

func withoutHeader(flat []string, name string) []string {
	var out []string
	for pair := range slices.Chunk(flat, 2) {
		if pair[0] != name {
			out = append(out, pair...)
		}
	}
	return out
}
