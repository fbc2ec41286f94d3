package node

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/des" //nolint:gosec // what older payment systems sign with
	"fmt"
	"maps"
	"slices"
	"strings"

	"golang.org/x/crypto/chacha20"
	"golang.org/x/crypto/chacha20poly1305"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// Ciphers keep no state in Go: JavaScript passes all that the next bytes depend on.

// cipherKind is the meaning of a cipher's name.
type cipherKind struct {
	mode     string // cbc, ctr, ecb, gcm, poly1305
	key, iv  int    // bytes; an iv of 0 takes none
	block    int
	nid      int
	fullName string
}

// ciphers are those of Node.js that Go has.
var ciphers = makeCiphers() //nolint:gochecknoglobals // a table

func makeCiphers() map[string]cipherKind {
	all := map[string]cipherKind{
		"chacha20-poly1305": {mode: "poly1305", key: 32, iv: 12, block: 1, nid: 1018},
		"des-ede3-cbc":      {mode: "cbc", key: 24, iv: des.BlockSize, block: des.BlockSize, nid: 44},
		"des-ede3":          {mode: "ecb", key: 24, block: des.BlockSize, nid: 33},
	}
	nids := map[string][3]int{"cbc": {419, 423, 427}, "ctr": {904, 905, 906}, "ecb": {418, 422, 426}, "gcm": {895, 898, 901}}
	for mode, ids := range nids {
		for i, bits := range []int{128, 192, 256} {
			c := cipherKind{mode: mode, key: bits / 8, iv: 16, block: 1, nid: ids[i]}
			switch mode {
			case "cbc":
				c.block = 16
			case "ecb":
				c.block, c.iv = 16, 0
			case "gcm":
				c.iv = 12
			}
			all[fmt.Sprintf("aes-%d-%s", bits, mode)] = c
		}
	}
	for name, c := range all {
		c.fullName = name
		if c.mode == "gcm" {
			c.fullName = "id-aes" + name[4:7] + "-gcm"
		}
		all[name] = c
	}
	return all
}

// findCipher knows the names of Node.js and of OpenSSL, in any case.
func findCipher(name string) (cipherKind, bool) {
	lower := strings.ToLower(name)
	if bits, ok := strings.CutPrefix(lower, "id-aes"); ok && strings.HasSuffix(lower, "-gcm") {
		lower = "aes-" + strings.TrimSuffix(bits, "-gcm") + "-gcm"
	}
	if lower == "aes128" || lower == "aes192" || lower == "aes256" {
		lower = "aes-" + lower[3:] + "-cbc"
	}
	switch lower {
	case "des3":
		lower = "des-ede3-cbc"
	case "des-ede3-ecb":
		lower = "des-ede3"
	}
	c, ok := ciphers[lower]
	return c, ok
}

func cipherOperations() map[string]operation {
	return map[string]operation{
		// cipher_info(name) -> [mode, key length, iv length, block size, nid, name] or null
		"cipher_info": func(c *engine.Call) (any, error) {
			found, ok := findCipher(c.String(1))
			if !ok {
				return nil, nil
			}
			return []any{found.mode, found.key, found.iv, found.block, found.nid, found.fullName}, nil
		},
		// cipher_names() -> names
		"cipher_names": func(*engine.Call) (any, error) { return slices.Sorted(maps.Keys(ciphers)), nil },
		// cipher_blocks(name, encrypt, key, iv, view) -> whole blocks of CBC or ECB
		"cipher_blocks": cipherBlocks,
		// cipher_stream(name, key, iv, position, view) -> bytes of CTR, GCM or ChaCha20 from a position in the text on
		"cipher_stream": cipherStream,
		// cipher_tag(name, key, iv, additional data, plain text) -> the tag
		"cipher_tag": func(c *engine.Call) (any, error) {
			aead, iv, err := newAEAD(c.String(1), c.Bytes(2), c.Bytes(3))
			if err != nil {
				return nil, err
			}
			additional, text := c.Bytes(4), c.Bytes(5)
			return aead.Seal(nil, iv, text, additional)[len(text):], nil
		},
		// cipher_whole(name, key, iv, plain text) -> the cipher text of GCM
		"cipher_whole": func(c *engine.Call) (any, error) {
			aead, iv, err := newAEAD(c.String(1), c.Bytes(2), c.Bytes(3))
			if err != nil {
				return nil, err
			}
			text := c.Bytes(4)
			return aead.Seal(nil, iv, text, nil)[:len(text)], nil
		},
	}
}

func cipherBlocks(c *engine.Call) (any, error) {
	found, _ := findCipher(c.String(1))
	encrypt, key, iv, text := c.Bool(2), c.Bytes(3), c.Bytes(4), c.Bytes(5)
	newBlock := aes.NewCipher
	if found.block == des.BlockSize {
		newBlock = des.NewTripleDESCipher //nolint:gosec // see the import
	}
	block, err := newBlock(key)
	if err != nil || len(text)%block.BlockSize() != 0 {
		return nil, newError("RangeError", "ERR_CRYPTO_INVALID_KEYLEN", "Invalid key length")
	}
	switch {
	case found.mode == "ecb":
		for rest := text; len(rest) > 0; rest = rest[found.block:] {
			if encrypt {
				block.Encrypt(rest, rest)
			} else {
				block.Decrypt(rest, rest)
			}
		}
	case found.mode != "cbc" || len(iv) != found.block:
		return nil, newError("TypeError", "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector")
	case encrypt:
		cipher.NewCBCEncrypter(block, iv).CryptBlocks(text, text)
	default:
		cipher.NewCBCDecrypter(block, iv).CryptBlocks(text, text)
	}
	return text, nil
}

func cipherStream(c *engine.Call) (any, error) {
	found, _ := findCipher(c.String(1))
	key, iv, position, text := c.Bytes(2), c.Bytes(3), uint64(max(c.Int(4), 0)), c.Bytes(5)
	if found.mode == "poly1305" {
		s, err := chacha20.NewUnauthenticatedCipher(key, iv)
		if err != nil {
			return nil, newError("TypeError", "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector")
		}
		const block = 64
		s.SetCounter(uint32(1 + position/block)) // the first block is the tag's key
		skip(s, int(position%block))
		s.XORKeyStream(text, text)
		return text, nil
	}
	if found.mode == "gcm" {
		iv = append(append([]byte{}, iv...), 0, 0, 0, 2)
	}
	block, err := aes.NewCipher(key)
	if err != nil || len(iv) != aes.BlockSize {
		return nil, newError("TypeError", "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector")
	}
	width := aes.BlockSize // of the counter
	if found.mode == "gcm" {
		width = 4
	}
	advance(iv[aes.BlockSize-width:], position/aes.BlockSize)
	s := cipher.NewCTR(block, iv)
	skip(s, int(position%aes.BlockSize))
	s.XORKeyStream(text, text)
	return text, nil
}

// advance adds n to a big-endian counter.
func advance(counter []byte, n uint64) {
	for i := len(counter) - 1; i >= 0 && n > 0; i-- {
		n += uint64(counter[i])
		counter[i] = byte(n)
		n >>= 8
	}
}

func skip(s cipher.Stream, n int) {
	waste := make([]byte, n)
	s.XORKeyStream(waste, waste)
}

func newAEAD(name string, key, iv []byte) (cipher.AEAD, []byte, error) {
	found, _ := findCipher(name)
	invalid := newError("TypeError", "ERR_CRYPTO_INVALID_IV", "Invalid initialization vector")
	if found.mode == "poly1305" {
		aead, err := chacha20poly1305.New(key)
		if err != nil || len(iv) != chacha20poly1305.NonceSize {
			return nil, nil, invalid
		}
		return aead, iv, nil
	}
	block, err := aes.NewCipher(key)
	if err != nil || found.mode != "gcm" || len(iv) == 0 {
		return nil, nil, invalid
	}
	aead, err := cipher.NewGCMWithNonceSize(block, len(iv))
	return aead, iv, err
}
