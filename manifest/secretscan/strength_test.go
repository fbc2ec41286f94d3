package secretscan_test

import (
	"testing"

	"github.com/pages-toolchain/pages/manifest/secretscan"
)

// The keys below are invented, or examples from the documents of their services. The test joins them from parts, so that scanners of
// repositories do not report this file as a leak.
const (
	stripe = "sk_" + "live_51HqLyjWDarjtT1zdp7dcXk2m"
	aws    = "wJalrXUtnFEMI/K7MDENG/bPxRfiCY" + "EXAMPLEKEY"
	jwt    = "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9" + ".eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"
	pemKey = "-----BEGIN " +
		"PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n" +
		"MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgevZzL1gdAFr88hb2\n-----END " + "PRIVATE KEY-----\n"
)

// TestStrength tries the rule on typical values of secrets: strong values are errors where they are found, weak
// ones warnings, and usual ones are not looked for.
func TestStrength(t *testing.T) {
	for want, values := range map[string][]string{
		"error": {
			stripe, "rk_" + "test_0123456789abcdef0123456789abcdef", "whsec_" + "MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
			"AKIA" + "IOSFODNN7EXAMPL3", aws, jwt, pemKey, "550e8400-e29b-41d4-a716-446655440000", "f47ac10b-58cc-4372-a567-0e02b2c3d479",
			"ghp_" + "16C7e42F292c6912E7710c838347Ae178B4a", "xoxb-" + "17653672481-19874698323-pdFZKVeTuE8sk7oOcHrzqqgy",
			"SG." + "ngeVfQFYQlKU0ufo8x5d1A.TwL2iGABf9DHoTf-09kqeF8tAmbihYzrnopKc-1s5cr", "AIza" + "SyDaGmWKa4JsXZ-HjGw7ISLn_3namBGewQe",
			"https://hooks." + "slack.com/services/T00000000/B00000000/XqkJd83hFsLw92nZpQ7vTb1R",
			"123456789:" + "AAF8dk3_hs9Fj2kLpQ0wErTyUiOpAsDfGhJ",
			"postgres://app:s3Xk29dLq0Zv71@db.example.com/app", "mongodb+srv://app:9hT2kLw8QzXc4V@cluster0.mongodb.net/",
			"k#9Lp$2vQ!xZ", "Zk3nQ8rT1vW7", "9f86d081884c7d659a2feaa0c55ad015",
			"a94a8fe5ccb19ba61c4c0873d391e987982fbbd3", "hTn5Xv0qLw2eRz8",
		},
		"warning": {
			"hunter2!", "correct-horse-battery-staple", "postgres://postgres:postgres@localhost:5432/app", "hunter2-hunter2",
			"my-application-database-name", "claude-3-5-sonnet-20241022", "passw0rd", "your-api-key-goes-here", "abcdefghijklmnop",
		},
		"": {
			"", "true", "hunter2", "development", "production", "postgres", "changeme", "password", "localhost:3000",
			"127.0.0.1:8080", "0.0.0.0",
			"http://localhost:3000", "https://example.com", "https://api.example.com/v1/", "db.internal.example.com", "noreply@example.com",
			"Boat Club <noreply@example.com>", "us-east-1", "eu-central-1", "app_production", "3000", "1234567890",
			"2026-10-01", "2026-10-01T00:00:00Z",
			"+49 30 12345678", "00000000-0000-0000-0000-000000000000", "xxxxxxxxxxxxxxxx", "sk_test_xx",
			"/var/lib/app/data.sqlite", "./data/site.db", "en-GB,de-DE",
			"redis://localhost:6379", "192.168.178.20", "::1", "fe80::1ff:fe23:4567:890a", "info", "debug,verbose", "Europe/Berlin",
		},
	} {
		for _, value := range values {
			got := ""
			if found := secretscan.New(
				[]secretscan.Secret{{Name: "A", Value: value}}, secretscan.Options{},
			).Find([]byte("a = '" + value + "'")); len(found) > 0 {
				got = "error"
				if found[0].Weak {
					got = "warning"
				}
			}
			if got != want {
				bits, _ := secretscan.Strength(value)
				t.Errorf("%q (%d bits): %q, want %q", value, bits, got, want)
			}
		}
	}
}

// TestOrdinary: texts of the manifest or package.json are public.
func TestOrdinary(t *testing.T) {
	ordinary := secretscan.Texts([]byte(`{"name": "boat-club-members-area", "deep": [{"list": ["x", 1]}]}`))
	secrets := []secretscan.Secret{{Name: "APP", Value: "boat-club-members-area"}, {Name: "KEY", Value: stripe}}
	found := secretscan.New(secrets, secretscan.Options{
		Ordinary: append(ordinary, stripe),
	}).Find([]byte("boat-club-members-area " + stripe))
	if len(found) != 1 || found[0].Name != "KEY" {
		t.Errorf("%+v", found)
	}
}

// TestMinBits: a short secret that can be guessed is left to its owner.
func TestMinBits(t *testing.T) {
	secrets := []secretscan.Secret{{Name: "SHORT", Value: "Zk3nQ8rT1v"}, {Name: "KEY", Value: stripe}}
	found := secretscan.New(secrets, secretscan.Options{MinBits: 64}).Find([]byte("Zk3nQ8rT1v " + stripe))
	if len(found) != 1 || found[0].Name != "KEY" {
		t.Errorf("%+v", found)
	}
}
