package webcrypto

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/subtle"
	"encoding/binary"
	"errors"
)

// errCipher is the standard's one error for data that cannot be decrypted: it must not reveal why.
var errCipher = domError("OperationError", "the data cannot be decrypted: another key, other parameters, or it was changed")

// cipherInPlace encrypts or decrypts the first size bytes of buf, which has room for the bytes that encryption adds, and returns the size
// of the result.
func cipherInPlace(decrypt bool, k *cryptoKey, p params, buf []byte, size int) (int, error) {
	if size < 0 || size > len(buf) {
		return 0, errors.New("the buffer is smaller than its content")
	}
	block, err := aes.NewCipher(k.data)
	if err != nil {
		return 0, err
	}
	switch k.alg {
	case "AES-CTR":
		bits, _ := p.int(1)
		return size, cipherCTR(block, p.bytes(0), bits, buf[:size])
	case "AES-CBC":
		return cipherCBC(block, decrypt, p.bytes(0), buf, size)
	}
	return cipherGCM(block, decrypt, p, buf, size)
}

// cipherCTR counts in the last so many bits of counter and leaves the others unchanged; crypto/cipher carries into them, so it starts again
// when the count overflows.
func cipherCTR(block cipher.Block, counter []byte, bits int, data []byte) error {
	if len(counter) != aes.BlockSize {
		return domError("OperationError", "the counter has %d bytes, not 16", len(counter))
	}
	if bits < 1 || bits > 128 {
		return domError("OperationError", "the counter's length is %d bits, not 1 to 128", bits)
	}
	blocks := uint64(len(data)+aes.BlockSize-1) / aes.BlockSize
	if bits < 64 && blocks > 1<<bits {
		return domError("OperationError", "there is more data than %d bits can count", bits)
	}
	before, wraps := blocksToWrap(counter, bits)
	first := data
	if wraps && blocks > before {
		first = data[:before*aes.BlockSize]
	}
	cipher.NewCTR(block, counter).XORKeyStream(first, first)
	if rest := data[len(first):]; len(rest) > 0 {
		for i := len(counter) - 1; bits > 0; i-- {
			n := min(bits, 8)
			counter[i] &= byte(0xff << n)
			bits -= n
		}
		cipher.NewCTR(block, counter).XORKeyStream(rest, rest)
	}
	return nil
}

// blocksToWrap is the number of blocks before the last so many bits of a counter overflow to zero; wraps is false if that exceeds the
// memory, or if crypto/cipher does the same.
func blocksToWrap(counter []byte, bits int) (blocks uint64, wraps bool) {
	high, low := binary.BigEndian.Uint64(counter), binary.BigEndian.Uint64(counter[8:])
	if bits < 64 {
		total := uint64(1) << bits
		return total - low&(total-1), true
	}
	counting := uint64(1)<<(bits-64) - 1 // the bits of high that count
	return -low, low != 0 && high&counting == counting
}

// cipherCBC pads as PKCS #7 (RFC 5652, 6.3).
func cipherCBC(block cipher.Block, decrypt bool, iv, buf []byte, size int) (int, error) {
	if len(iv) != aes.BlockSize {
		return 0, domError("OperationError", "the iv has %d bytes, not 16", len(iv))
	}
	if !decrypt {
		pad := aes.BlockSize - size%aes.BlockSize
		for i := range pad {
			buf[size+i] = byte(pad)
		}
		size += pad
		cipher.NewCBCEncrypter(block, iv).CryptBlocks(buf[:size], buf[:size])
		return size, nil
	}
	if size == 0 || size%aes.BlockSize != 0 {
		return 0, errCipher
	}
	data := buf[:size]
	cipher.NewCBCDecrypter(block, iv).CryptBlocks(data, data)
	pad := int(data[size-1])
	good := subtle.ConstantTimeLessOrEq(1, pad) & subtle.ConstantTimeLessOrEq(pad, aes.BlockSize)
	for i := 1; i <= aes.BlockSize; i++ {
		padded := subtle.ConstantTimeLessOrEq(i, pad)
		same := subtle.ConstantTimeByteEq(data[size-i], byte(pad))
		good &= subtle.ConstantTimeSelect(padded, same, 1)
	}
	if good == 0 {
		return 0, errCipher
	}
	return size - pad, nil
}

const tagSize = 16

// cipherGCM takes any iv but an empty one, and shorter tags; crypto/cipher writes whole ones.
func cipherGCM(block cipher.Block, decrypt bool, p params, buf []byte, size int) (int, error) {
	extra, iv := p.bytes(0), p.bytes(1)
	tag := tagSize
	if bits, ok := p.int(2); ok {
		switch bits {
		case 32, 64, 96, 104, 112, 120, 128:
			tag = bits / 8
		default:
			return 0, domError("OperationError", "a tag of %d bits; it can have 32, 64, 96, 104, 112, 120 or 128", bits)
		}
	}
	if len(iv) == 0 {
		return 0, domError("OperationError", "the iv is empty")
	}
	gcm, err := cipher.NewGCMWithNonceSize(block, len(iv))
	if err != nil {
		return 0, domError("OperationError", "the iv cannot be used: %v", err)
	}
	if !decrypt {
		gcm.Seal(buf[:0], iv, buf[:size], extra)
		return size + tag, nil
	}
	if size < tag {
		return 0, errCipher
	}
	size -= tag
	if tag < tagSize {
		return size, openShort(gcm, iv, buf[:size], buf[size:size+tag], extra)
	}
	if _, err := gcm.Open(buf[:0], iv, buf[:size+tag], extra); err != nil {
		return 0, errCipher
	}
	return size, nil
}

// openShort decrypts data with a shortened tag, in place. The key stream is the same
// both ways, so sealing the data decrypts it; sealing the result returns the beginning of the tag.
func openShort(gcm cipher.AEAD, iv, data, tag, extra []byte) error {
	plain := gcm.Seal(nil, iv, data, extra)[:len(data)]
	whole := gcm.Seal(nil, iv, plain, extra)[len(data):]
	if subtle.ConstantTimeCompare(whole[:len(tag)], tag) != 1 {
		return errCipher
	}
	copy(data, plain)
	return nil
}

// wrapAES is the key wrapping of RFC 3394, section 2.2.
func wrapAES(decrypt bool, k *cryptoKey, _ params, data []byte) ([]byte, error) {
	block, err := aes.NewCipher(k.data)
	if err != nil {
		return nil, err
	}
	if decrypt {
		return unwrapKey(block, data)
	}
	if len(data) < 16 || len(data)%8 != 0 {
		return nil, domError("OperationError", "AES-KW wraps a multiple of 8 bytes, 16 at least, not %d", len(data))
	}
	n := len(data) / 8
	out := make([]byte, len(data)+8)
	copy(out[8:], data)
	var b [aes.BlockSize]byte
	binary.BigEndian.PutUint64(b[:], wrapCheck)
	for step := range 6 * n {
		at := out[8+step%n*8:][:8]
		copy(b[8:], at)
		block.Encrypt(b[:], b[:])
		binary.BigEndian.PutUint64(b[:], binary.BigEndian.Uint64(b[:])^uint64(step+1))
		copy(at, b[8:])
	}
	copy(out, b[:8])
	return out, nil
}

// wrapCheck is the initial value that unwrapping finds again (RFC 3394, 2.2.3.1).
const wrapCheck = 0xa6a6a6a6a6a6a6a6

func unwrapKey(block cipher.Block, data []byte) ([]byte, error) {
	if len(data) < 24 || len(data)%8 != 0 {
		return nil, errCipher
	}
	n := len(data)/8 - 1
	out := append([]byte(nil), data[8:]...)
	var b [aes.BlockSize]byte
	copy(b[:], data[:8])
	for step := 6*n - 1; step >= 0; step-- {
		at := out[step%n*8:][:8]
		binary.BigEndian.PutUint64(b[:], binary.BigEndian.Uint64(b[:])^uint64(step+1))
		copy(b[8:], at)
		block.Decrypt(b[:], b[:])
		copy(at, b[8:])
	}
	var check [8]byte
	binary.BigEndian.PutUint64(check[:], wrapCheck)
	if subtle.ConstantTimeCompare(b[:8], check[:]) != 1 {
		return nil, errCipher
	}
	return out, nil
}
