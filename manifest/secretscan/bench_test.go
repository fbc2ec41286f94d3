package secretscan_test

import (
	"crypto/sha256"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/pages-toolchain/pages/manifest/secretscan"
)

// tenSecrets are of the kinds that a site has.
func tenSecrets() []secretscan.Secret {
	r := rand.New(rand.NewPCG(1, 2))
	var list []secretscan.Secret
	for i, value := range []string{
		stripe, aws, jwt, "postgres://app:s3Xk29dLq0Zv71@db.example.com/app", "550e8400-e29b-41d4-a716-446655440000",
	} {
		list = append(list, secretscan.Secret{Name: fmt.Sprint("A", i), Value: value})
	}
	for i := range 5 {
		list = append(list, secretscan.Secret{Name: fmt.Sprint("B", i), Value: randomText(r, 32)})
	}
	return list
}

const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

func randomText(r *rand.Rand, n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = letters[r.IntN(len(letters))]
	}
	return string(b)
}

// BenchmarkFind goes through a minified script, beside the hashing of the same bytes, which every public file has.
func BenchmarkFind(b *testing.B) {
	text, err := os.ReadFile("../../runtime/artifact/prelude.js")
	if err != nil {
		b.Skip("make artifacts writes it")
	}
	set := secretscan.New(tenSecrets(), secretscan.Options{})
	b.Run("ten", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			if len(set.Find(text)) > 0 {
				b.Fatal("found")
			}
		}
	})
	b.Run("sha256", func(b *testing.B) {
		b.SetBytes(int64(len(text)))
		for b.Loop() {
			sha256.Sum256(text)
		}
	})
}

// BenchmarkNew makes the Set that a build looks with.
func BenchmarkNew(b *testing.B) {
	for b.Loop() {
		if secretscan.New(tenSecrets(), secretscan.Options{}) == nil {
			b.Fatal("none")
		}
	}
}
