package webcrypto

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/subtle"
	"encoding/binary"
	"errors"
	"math/big"
)

// This file is RSASSA-PSS without a salt (RFC 8017, 8.1 and 9.1), which crypto/rsa
// cannot be asked for: there, a salt of no bytes means one of any length. With no
// salt the encoded message is the same each time.

// encodeUnsalted is EMSA-PSS-ENCODE for a modulus of so many bits.
func encodeUnsalted(hash string, digest []byte, modulusBits int) ([]byte, error) {
	h, err := hashOf(hash)
	if err != nil {
		return nil, err
	}
	bits := modulusBits - 1
	size := (bits + 7) / 8
	if size < len(digest)+2 {
		return nil, errors.New("the key is too short for the hash")
	}
	d := h.New()
	d.Write(make([]byte, 8))
	d.Write(digest)
	sum := d.Sum(nil)
	masked := make([]byte, size-len(sum)-1)
	masked[len(masked)-1] = 1
	var counter [4]byte
	for at := 0; at < len(masked); at += len(sum) { // MGF1
		d.Reset()
		d.Write(sum)
		d.Write(counter[:])
		subtle.XORBytes(masked[at:], masked[at:], d.Sum(nil))
		binary.BigEndian.PutUint32(counter[:], binary.BigEndian.Uint32(counter[:])+1)
	}
	masked[0] &= 0xff >> (8*size - bits)
	return append(append(masked, sum...), 0xbc), nil
}

// signUnsalted is RSASP1 of the encoded message, blinded: math/big does not
// compute in constant time.
func signUnsalted(key *rsa.PrivateKey, hash string, digest []byte) ([]byte, error) {
	message, err := encodeUnsalted(hash, digest, key.N.BitLen())
	if err != nil {
		return nil, err
	}
	var blind, inverse *big.Int
	for inverse == nil {
		if blind, err = rand.Int(rand.Reader, key.N); err != nil {
			return nil, err
		}
		inverse = new(big.Int).ModInverse(blind, key.N)
	}
	n := new(big.Int).Exp(blind, big.NewInt(int64(key.E)), key.N)
	n.Mul(n, new(big.Int).SetBytes(message)).Mod(n, key.N)
	n.Exp(n, key.D, key.N)
	n.Mul(n, inverse).Mod(n, key.N)
	return n.FillBytes(make([]byte, key.Size())), nil
}

func verifyUnsalted(key *rsa.PublicKey, hash string, digest, signature []byte) bool {
	message, err := encodeUnsalted(hash, digest, key.N.BitLen())
	n := new(big.Int).SetBytes(signature)
	if err != nil || len(signature) != key.Size() || n.Cmp(key.N) >= 0 {
		return false
	}
	n.Exp(n, big.NewInt(int64(key.E)), key.N)
	return n.Cmp(new(big.Int).SetBytes(message)) == 0
}
