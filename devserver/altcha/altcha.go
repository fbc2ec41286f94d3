// Package altcha makes and verifies proofs of work in the format of versions 1 and 2 of the npm package altcha, which version 3 reads, too:
// a browser's script looks for the number whose hash, with a salt, equals the given one.
//
// Output: a [Challenge], as JSON for the widget. Input: the value of the widget's form field. A challenge is signed, expires after [Life],
// and its solution counts once. The package stores nothing on disk: after a restart, a solution from the last minutes counts once more.
//
// [Challenges] is safe for concurrent use. The package serves no requests and judges no posts.
package altcha

import (
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Life is the time in which a challenge can be solved; the widget then requests another one.
const Life = 20 * time.Minute

const (
	algorithm = "SHA-256"
	// maxNumber bounds the work: a browser needs about a tenth of a second for half of it.
	maxNumber = 50_000
	saltBytes = 12
	// maxSolution bounds a solution in bytes. The widget's solutions have about 300.
	maxSolution = 2048
	// maxSolved bounds the number of remembered solved challenges.
	maxSolved = 16384
)

// Challenge is a challenge as the widget reads it.
type Challenge struct {
	Algorithm string `json:"algorithm"`
	Challenge string `json:"challenge"` // hexadecimal SHA-256 of salt and number
	MaxNumber int    `json:"maxnumber"`
	Salt      string `json:"salt"`
	Signature string `json:"signature"` // hexadecimal HMAC-SHA-256 of Challenge
}

// solution is the value of the widget's field, in base64.
type solution struct {
	Algorithm string `json:"algorithm"`
	Challenge string `json:"challenge"`
	Number    int64  `json:"number"`
	Salt      string `json:"salt"`
	Signature string `json:"signature"`
}

// State is the state of the proof of a post.
type State int

// The states of a proof. An absent one is usual; an expired one comes from a page that was open for long.
const (
	Absent State = iota
	Solved
	Forged // no solution of a challenge of this site, or used before
)

// Challenges makes challenges and verifies their solutions. Make it with [New].
type Challenges struct {
	key []byte

	mu     sync.Mutex
	solved map[string]use // by challenge
}

// use is the use of a solution.
type use struct {
	expires time.Time // of the challenge
	post    string    // the post that it came with; "" for a post without a token
}

// New returns challenges signed by a key, which must be secret.
func New(key []byte) *Challenges { return &Challenges{key: key, solved: map[string]use{}} }

// Make returns a new challenge.
func (c *Challenges) Make(now time.Time) Challenge {
	random := make([]byte, saltBytes+4)
	_, _ = rand.Read(random) // it never fails
	number := binary.BigEndian.Uint32(random[saltBytes:]) % (maxNumber + 1)
	// The ampersand ends the time: without it, digits could move between the time and the number.
	salt := hex.EncodeToString(random[:saltBytes]) + "?expires=" + strconv.FormatInt(now.Add(Life).Unix(), 10) + "&"
	challenge := hashOf(salt, int64(number))
	return Challenge{Algorithm: algorithm, Challenge: challenge, MaxNumber: maxNumber, Salt: salt, Signature: c.sign(challenge)}
}

// Verify checks the value of the widget's field; "" means no value. A solution counts once, and again with the same post: post identifies
// one that may be repeated; "" is any other post.
func (c *Challenges) Verify(value, post string, now time.Time) State {
	if value == "" {
		return Absent
	}
	text, err := base64.StdEncoding.DecodeString(value)
	var s solution
	if err != nil || len(text) > maxSolution || json.Unmarshal(text, &s) != nil || s.Algorithm != algorithm ||
		s.Number < 0 || s.Number > maxNumber || s.Challenge != hashOf(s.Salt, s.Number) ||
		!hmac.Equal([]byte(s.Signature), []byte(c.sign(s.Challenge))) {
		return Forged
	}
	_, rest, _ := strings.Cut(s.Salt, "?expires=")
	seconds, ended := strings.CutSuffix(rest, "&")
	at, err := strconv.ParseInt(seconds, 10, 64)
	if err != nil || !ended {
		return Forged
	}
	expires := time.Unix(at, 0)
	if !now.Before(expires) {
		return Absent
	}
	return c.note(s.Challenge, use{expires, post}, now)
}

// note notes a challenge as solved.
func (c *Challenges) note(challenge string, u use, now time.Time) State {
	c.mu.Lock()
	defer c.mu.Unlock()
	if before, again := c.solved[challenge]; again {
		if u.post != "" && before.post == u.post {
			return Solved
		}
		return Forged
	}
	if len(c.solved) >= maxSolved {
		for other, o := range c.solved {
			if !now.Before(o.expires) {
				delete(c.solved, other)
			}
		}
	}
	if len(c.solved) >= maxSolved {
		return Absent // without a free place, the solution does not count
	}
	c.solved[challenge] = u
	return Solved
}

func hashOf(salt string, number int64) string {
	sum := sha256.Sum256([]byte(salt + strconv.FormatInt(number, 10)))
	return hex.EncodeToString(sum[:])
}

func (c *Challenges) sign(challenge string) string {
	mac := hmac.New(sha256.New, c.key)
	mac.Write([]byte(challenge))
	return hex.EncodeToString(mac.Sum(nil))
}
