package main

import (
	"crypto/sha256"
	"encoding/hex"
)

// sumOf is the SHA-256 of a text, in hexadecimal.
func sumOf(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}
