package spam

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"time"
)

// StampState is the state of a post's stamp.
type StampState int

// The states of a stamp. An absent one is usual: the page has no script of ours, the browser does not run it, or the page was open for
// longer than [stampLife].
const (
	StampAbsent StampState = iota
	StampInTime
	StampTooFast
	StampForged
)

const (
	stampLife = 24 * time.Hour // an older stamp has no meaning
	macSize   = 16             // bytes of the signature
	timeSize  = 8
	// clockSlack is the difference by which a stamp may be ahead of this clock: another process of the site may have made it.
	clockSlack = time.Minute
)

// Stamp returns the signed time of a page: base64 of milliseconds since 1970 and an HMAC-SHA256 of them.
func Stamp(key []byte, now time.Time) string {
	at := binary.BigEndian.AppendUint64(nil, uint64(now.UnixMilli())) //nolint:gosec // after 1970
	return base64.RawURLEncoding.EncodeToString(append(at, signStamp(key, at)...))
}

// ReadStamp reads a stamp; "" is absent.
func ReadStamp(key []byte, text string, now time.Time) StampState {
	if text == "" {
		return StampAbsent
	}
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(raw) != timeSize+macSize || !hmac.Equal(raw[timeSize:], signStamp(key, raw[:timeSize])) {
		return StampForged
	}
	age := now.Sub(time.UnixMilli(int64(binary.BigEndian.Uint64(raw)))) //nolint:gosec // signed here
	switch {
	case age < -clockSlack:
		return StampForged
	case age < LeastTime:
		return StampTooFast
	case age > stampLife:
		return StampAbsent
	}
	return StampInTime
}

func signStamp(key, at []byte) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte("pages form stamp\x00"))
	mac.Write(at)
	return mac.Sum(nil)[:macSize]
}
