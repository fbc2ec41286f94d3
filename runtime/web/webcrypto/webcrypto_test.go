package webcrypto_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"testing"

	"github.com/pages-toolchain/pages/runtime/engine"
	"github.com/pages-toolchain/pages/runtime/web"
	"github.com/pages-toolchain/pages/runtime/web/webtest"
)

// hexes is the common begin of snippets.
const hexes = `const { subtle } = crypto, hex = (b) => new Uint8Array(b).toHex(), of = Uint8Array.fromHex.bind(Uint8Array),
	text = (s) => new TextEncoder().encode(s);
const thrown = (p) => p.then((v) => "no error: " + v, (e) => e.name + (e instanceof DOMException ? "" : "!"));
`

func tryCrypto(t *testing.T, snippets []webtest.Snippet) {
	t.Helper()
	for i := range snippets {
		snippets[i][1] = hexes + snippets[i][1]
	}
	webtest.Try(t, web.Options{}, snippets)
}

// Values from the RFCs that define the algorithms.
func TestCryptoVectors(t *testing.T) {
	tryCrypto(t, []webtest.Snippet{
		// RFC 3394, 4.1 and 4.6
		{
			"AES-KW with 128 bits",
			`const kek = await subtle.importKey("raw", of("000102030405060708090a0b0c0d0e0f"), "AES-KW", false, ["wrapKey", "unwrapKey"]);
		const key = await subtle.importKey("raw", of("00112233445566778899aabbccddeeff"), "AES-CBC", true, ["encrypt"]);
		const wrapped = await subtle.wrapKey("raw", key, kek, "AES-KW");
		const back = await subtle.unwrapKey("raw", wrapped, kek, "AES-KW", "AES-CBC", true, ["encrypt"]);
		const other = new Uint8Array(wrapped.slice()); other[3] ^= 1;
		return [hex(wrapped), hex(await subtle.exportKey("raw", back)),
			await thrown(subtle.unwrapKey("raw", other, kek, "AES-KW", "AES-CBC", true, ["encrypt"]))]`,
			`["1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5","00112233445566778899aabbccddeeff","OperationError"]`,
		},
		{
			"AES-KW with 256 bits",
			`const kek = await subtle.importKey("raw", of("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f"), "AES-KW",
				false, ["wrapKey"]);
		const key = await subtle.importKey("raw", of("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f"), {
			name: "HMAC", hash: "SHA-1" }, true, ["sign"]);
		return hex(await subtle.wrapKey("raw", key, kek, "AES-KW"))`,
			`"28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"`,
		},
		// RFC 5869, A.1
		{
			"HKDF",
			`const key = await subtle.importKey("raw", of("0b".repeat(22)), "HKDF", false, ["deriveBits"]);
		return hex(await subtle.deriveBits({ name: "HKDF", hash: "SHA-256", salt: of("000102030405060708090a0b0c"),
			info: of("f0f1f2f3f4f5f6f7f8f9") }, key, 336))`,
			`"3cb25f25faacd57a90434f64d0362f2a2d2d0a90cf1a5a4c5db02d56ecc4c5bf34007208d5b887185865"`,
		},
		// RFC 6070
		{
			"PBKDF2",
			`const key = await subtle.importKey("raw", text("passwordPASSWORDpassword"), "PBKDF2", false, ["deriveBits"]);
		return hex(await subtle.deriveBits({ name: "PBKDF2", hash: "SHA-1", salt: text("saltSALTsaltSALTsaltSALTsaltSALTsalt"),
			iterations: 4096 }, key, 200))`,
			`"3d2eec4fe41c849b80c8d83662c0e44a8b291a964cf2f07038"`,
		},
		// RFC 8032, 7.1, test 3
		{
			"Ed25519",
			`const jwk = { kty: "OKP", crv: "Ed25519", d: of("c5aa8df43f9f837bedb7442f31dcb7b166d38535076f094b85ce3a2e0b4458f7").toBase64({
				alphabet: "base64url", omitPadding: true }),
			x: of("fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025").toBase64({
				alphabet: "base64url", omitPadding: true }) };
		const key = await subtle.importKey("jwk", jwk, "Ed25519", false, ["sign"]);
		return hex(await subtle.sign("Ed25519", key, of("af82")))`,
			`"6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea` +
				`1ec40a"`,
		},
		{
			"members of exported keys, in their order",
			`const out = [];
		for (const [algorithm, usages] of [[{ name: "HMAC", hash: "SHA-256" }, ["sign"]], [{ name: "ECDSA", namedCurve: "P-256" },
			["sign", "verify"]], ["Ed25519", ["sign", "verify"]], ["X25519", ["deriveBits"]],
			[{ name: "RSA-PSS", hash: "SHA-256", modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) }, ["sign", "verify"]]]) {
			const made = await subtle.generateKey(algorithm, true, usages);
			for (const key of made.publicKey ? [made.publicKey, made.privateKey] : [made])
				out.push(Object.keys(await subtle.exportKey("jwk", key)).join(" "));
		}
		const jwk = await subtle.exportKey("jwk", (await subtle.generateKey("Ed25519", true, ["sign", "verify"])).publicKey);
		const take = (alg) => thrown(subtle.importKey("jwk", { ...jwk, alg }, "Ed25519", true, ["verify"]).then((key) => key.type));
		return [...out, jwk.alg, await take("EdDSA"), await take("Ed25519"), await take(undefined)]`,
			`["kty key_ops alg ext k","kty key_ops ext crv x y","kty key_ops ext crv x y d","kty key_ops alg ext crv x",
				"kty key_ops alg ext crv x d","kty key_ops ext crv x","kty key_ops ext crv x d","kty key_ops alg ext n e",
				"kty key_ops alg ext d n e p q dp dq qi","EdDSA","no error: public","DataError","no error: public"]`,
		},
		// RFC 7748, 6.1
		{
			"X25519",
			`const key = await subtle.importKey("pkcs8", of("302e020100300506032b656e04220420" +
				"77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"), "X25519", true, ["deriveBits"]);
		const other = await subtle.importKey("raw", of("de9edb7d7b7dc1b4d35b61c2ece435373f8343c85b78674dadfc7e146f882b4f"), "X25519", true,
			[]);
		return [hex(await subtle.deriveBits({ name: "X25519", public: other }, key)),
			Uint8Array.fromBase64((await subtle.exportKey("jwk", key)).x, { alphabet: "base64url" }).toHex(),
			await thrown(subtle.deriveBits({ name: "X25519",
				public: await subtle.importKey("raw", new Uint8Array(32), "X25519", true, []) }, key, 256))]`,
			`["4a5d9d5ba4ce2de1728e3bf480350f25e07e21c947d19e3376f09b3c1e161742",
				"8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a","OperationError"]`,
		},
		// NIST SP 800-38A, F.5.1 and F.2.1; the counter begins again within its last 8 bits
		{
			"AES-CTR and AES-CBC",
			`const raw = of("2b7e151628aed2a6abf7158809cf4f3c"),
				data = of("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51");
		const ctr = await subtle.importKey("raw", raw, "AES-CTR", false, ["encrypt"]),
			cbc = await subtle.importKey("raw", raw, "AES-CBC", false, ["encrypt"]);
		const counter = of("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
		const whole = await subtle.encrypt({ name: "AES-CTR", counter, length: 128 }, ctr, data),
			short = await subtle.encrypt({ name: "AES-CTR", counter, length: 8 }, ctr, data);
		const second = await subtle.encrypt({ name: "AES-CTR", counter: of("f0f1f2f3f4f5f6f7f8f9fafbfcfdfe00"), length: 8 }, ctr,
			data.subarray(16));
		return [hex(whole), hex(short) === hex(whole).slice(0, 32) + hex(second),
			hex(await subtle.encrypt({ name: "AES-CBC", iv: of("000102030405060708090a0b0c0d0e0f") }, cbc, data)).slice(0, 64),
			await thrown(subtle.encrypt({ name: "AES-CTR", counter, length: 1 }, ctr, new Uint8Array(33)))]`,
			`["874d6191b620e3261bef6864990db6ce9806f66b7970fdff8617187bb9fffdff",true,
				"7649abac8119b246cee98e9b12e9197d5086cb9b507219ee95db113a917678b2","OperationError"]`,
		},
		// The 64 bit and 128 bit ends of a counter.
		{
			"ends of a counter",
			`const key = await subtle.importKey("raw", new Uint8Array(16), "AES-CTR", false, ["encrypt"]), data = new Uint8Array(48);
		const run = async (counter, length) => hex(await subtle.encrypt({ name: "AES-CTR", counter: of(counter), length }, key, data)),
			one = async (counter) => (await run(counter, 128)).slice(0, 32);
		const last = "11111111111111" + "22" + "ffffffffffffffff";
		return [await run(last, 64) === await one(last) + await one("1111111111111122" + "0".repeat(16)) +
			await one("1111111111111122" + "0".repeat(15) + "1"),
			await run(last, 65) === await one(last) + await one("1111111111111123" + "0".repeat(16)) +
				await one("1111111111111123" + "0".repeat(15) + "1"),
			await run("f".repeat(32), 128) === await one("f".repeat(32)) + await one("0".repeat(32)) + await one("0".repeat(31) + "1")]`,
			`[true,true,true]`,
		},
		// McGrew and Viega's GCM test case 4, and shorter tags of it
		{
			"AES-GCM",
			`const key = await subtle.importKey("raw", of("feffe9928665731c6d6a8f9467308308"), "AES-GCM", false, ["encrypt", "decrypt"]);
		const alg = { name: "AES-GCM", iv: of("cafebabefacedbaddecaf888"), additionalData: of("feedfacedeadbeeffeedfacedeadbeefabaddad2") };
		const data = of(
			"d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a721c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39");
		const sealed = await subtle.encrypt(alg, key, data), short = await subtle.encrypt({ ...alg, tagLength: 32 }, key, data);
		const bad = new Uint8Array(short.slice()); bad[bad.length - 1] ^= 1;
		return [hex(sealed).slice(-32), hex(short) === hex(sealed).slice(0, -24),
			hex(await subtle.decrypt({ ...alg, tagLength: 32 }, key, short)) === data.toHex(),
			hex(await subtle.decrypt(alg, key, sealed)) === data.toHex(),
			await thrown(subtle.decrypt({ ...alg, tagLength: 32 }, key, bad)),
				await thrown(subtle.decrypt({ ...alg, iv: of("00") }, key, sealed)),
				await thrown(subtle.encrypt({ ...alg, tagLength: 33 }, key, data)),
				await thrown(subtle.encrypt({ ...alg, iv: of("") }, key, data))]`,
			`["5bc94fbc3221a5db94fae95ae7121a47",true,true,true,"OperationError","OperationError","OperationError","OperationError"]`,
		},
	})
}

// Each algorithm makes keys, writes and reads them in all its formats, and the read keys work as the made ones did.
func TestCryptoRoundTrips(t *testing.T) {
	const rsa = `modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1])`
	tryCrypto(t, []webtest.Snippet{
		{
			"signatures",
			`const data = text("some data"), out = [];
		for (const [generate, use] of [
			[{ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256", ` + rsa + ` }, "RSASSA-PKCS1-v1_5"],
			[{ name: "RSA-PSS", hash: "SHA-384", ` + rsa + ` }, { name: "RSA-PSS", saltLength: 20 }],
			[{ name: "RSA-PSS", hash: "SHA-1", ` + rsa + ` }, { name: "RSA-PSS", saltLength: 0 }],
			[{ name: "ECDSA", namedCurve: "P-256" }, { name: "ECDSA", hash: "SHA-512" }],
				[{ name: "ecdsa", namedCurve: "P-521" }, { name: "Ecdsa", hash: { name: "sha-1" } }], ["Ed25519", "Ed25519"],
			[{ name: "NODE-ED25519", namedCurve: "NODE-ED25519" }, "NODE-ED25519"],
		]) {
			const pair = await subtle.generateKey(generate, true, ["verify", "sign"]);
			const signature = await subtle.sign(use, pair.privateKey, data);
			const results = [];
			for (const format of ["pkcs8", "jwk"]) {
				const again = await subtle.importKey(format, await subtle.exportKey(format, pair.privateKey), generate, false, ["sign"]);
				results.push(await subtle.verify(use, pair.publicKey, await subtle.sign(use, again, data), data));
			}
			for (const format of ["spki", "jwk"].concat(pair.publicKey.algorithm.modulusLength ? [] : ["raw"])) {
				const again = await subtle.importKey(format, await subtle.exportKey(format, pair.publicKey), generate, true, ["verify"]);
				results.push(await subtle.verify(use, again, signature, data),
					!await subtle.verify(use, again, signature, text("other data")),
					!await subtle.verify(use, again, new Uint8Array(7), data));
			}
			out.push(results.every((r) => r === true), pair.privateKey.usages.join(), pair.publicKey.usages.join(), pair.publicKey.type);
		}
		return out.join(" ")`,
			`"` + repeat("true sign verify public", 7) + `"`,
		},
		{
			"RSA-PSS without a salt",
			`const pair = await subtle.generateKey({ name: "RSA-PSS", hash: "SHA-256", ` + rsa + ` }, false, ["sign", "verify"]),
				data = text("x");
		const s = await subtle.sign({ name: "RSA-PSS", saltLength: 0 }, pair.privateKey, data);
		return [await subtle.verify({ name: "RSA-PSS", saltLength: 0 }, pair.publicKey, s, data),
			await subtle.verify({ name: "RSA-PSS", saltLength: 32 }, pair.publicKey, s, data), pair.privateKey.algorithm]`,
			`[true,false,{"name":"RSA-PSS","modulusLength":2048,"publicExponent":{"0":1,"1":0,"2":1},"hash":{"name":"SHA-256"}}]`,
		},
		{
			"RSA-OAEP",
			`const pair = await subtle.generateKey({ name: "RSA-OAEP", hash: "SHA-256", ` + rsa + ` }, true,
				["encrypt", "decrypt", "wrapKey", "unwrapKey"]), label = text("label");
		const sealed = await subtle.encrypt({ name: "RSA-OAEP", label }, pair.publicKey, text("secret"));
		const aes = await subtle.generateKey({ name: "AES-GCM", length: 256 }, true, ["encrypt", "decrypt"]);
		const wrapped = await subtle.wrapKey("jwk", aes, pair.publicKey, "RSA-OAEP").catch((e) => e.name),
			raw = await subtle.wrapKey("raw", aes, pair.publicKey, "RSA-OAEP");
		const back = await subtle.unwrapKey("raw", raw, pair.privateKey, "RSA-OAEP", "AES-GCM", true, ["decrypt"]);
		return [new TextDecoder().decode(await subtle.decrypt({ name: "RSA-OAEP", label }, pair.privateKey, sealed)),
			await thrown(subtle.decrypt("RSA-OAEP", pair.privateKey, sealed)),
			(await subtle.exportKey("jwk", aes)).k === (await subtle.exportKey("jwk", back)).k,
				(await subtle.exportKey("jwk", pair.publicKey)).alg, sealed.byteLength, wrapped.byteLength]`,
			`["secret","OperationError",true,"RSA-OAEP-256",256,256]`,
		},
		{
			"ECDH",
			`const out = [];
		for (const namedCurve of ["P-256", "P-384", "P-521"]) {
			const [a, b] = await Promise.all([0, 1].map(() => subtle.generateKey({ name: "ECDH", namedCurve }, true,
				["deriveKey", "deriveBits"])));
			const one = await subtle.deriveBits({ name: "ECDH", public: b.publicKey }, a.privateKey),
				two = await subtle.deriveBits({ name: "ECDH", public: a.publicKey }, b.privateKey, 13);
			const key = await subtle.deriveKey({ name: "ECDH", public: b.publicKey }, a.privateKey, { name: "AES-GCM", length: 256 }, true,
				["encrypt"]);
			out.push(one.byteLength, new Uint8Array(one)[1] >> 3 << 3 === new Uint8Array(two)[1],
				hex(await subtle.exportKey("raw", key)) === hex(one.slice(0, 32)),
				await thrown(subtle.deriveBits({ name: "ECDH", public: b.publicKey }, a.privateKey, 1000)),
				await thrown(subtle.deriveBits({ name: "ECDH", public: b.privateKey }, a.privateKey)));
		}
		return out`,
			`[32,true,true,"OperationError","InvalidAccessError",48,true,true,"OperationError","InvalidAccessError",66,true,true,
				"OperationError","InvalidAccessError"]`,
		},
		{
			"AES",
			`const out = [];
		for (const [name, params] of [["AES-CBC", { iv: new Uint8Array(16) }], ["AES-CTR", { counter: new Uint8Array(16), length: 64 }],
			["AES-GCM", { iv: new Uint8Array(12) }]]) {
			for (const length of [128, 192, 256]) {
				const key = await subtle.generateKey({ name, length }, true, ["encrypt", "decrypt"]);
				const again = await subtle.importKey("jwk", await subtle.exportKey("jwk", key), name, true, ["decrypt"]);
				for (const size of [0, 1, 15, 16, 17, 1000]) {
					const data = new Uint8Array(size).fill(size);
					const sealed = await subtle.encrypt({ name, ...params }, key, data);
					if (hex(await subtle.decrypt({ name, ...params }, again, sealed)) !== data.toHex()) out.push([name, length, size]);
				}
				out.push((await subtle.exportKey("jwk", key)).alg);
			}
		}
		return out`,
			`["A128CBC","A192CBC","A256CBC","A128CTR","A192CTR","A256CTR","A128GCM","A192GCM","A256GCM"]`,
		},
		{
			"HMAC of odd lengths",
			`const key = await subtle.importKey("raw", of("ffff"), { name: "HMAC", hash: "SHA-256", length: 11 }, true, ["sign"]),
				made = await subtle.generateKey({ name: "HMAC", hash: "SHA-384", length: 9 }, true, ["sign"]);
		return [key.algorithm, hex(await subtle.exportKey("raw", key)), made.algorithm.length,
			(await subtle.exportKey("raw", made)).byteLength,
			await thrown(subtle.importKey("raw", of("ffff"), { name: "HMAC", hash: "SHA-256", length: 8 }, true, ["sign"]))]`,
			`[{"name":"HMAC","hash":{"name":"SHA-256"},"length":11},"ffe0",9,2,"DataError"]`,
		},
		// HMAC with MD5 is the platform's own; RFC 2202, 2, test 2.
		{
			"HMAC with MD5",
			`const key = await subtle.importKey("raw", text("Jefe"), { name: "HMAC", hash: "MD5" }, false, ["sign"]);
		return [hex(await subtle.sign("HMAC", key, text("what do ya want for nothing?"))), key.algorithm.hash.name]`,
			`["750c783e6ab0b503eaa86e310a5db738","MD5"]`,
		},
		// A compressed point is the point.
		{
			"a compressed point",
			`const { publicKey } = await subtle.generateKey({ name: "ECDSA", namedCurve: "P-256" }, true, ["sign", "verify"]),
				point = new Uint8Array(await subtle.exportKey("raw", publicKey));
		const short = new Uint8Array([2 + point[64] % 2, ...point.subarray(1, 33)]);
		const key = await subtle.importKey("raw", short, publicKey.algorithm, true, ["verify"]);
		short[0] = 9;
		return [hex(await subtle.exportKey("raw", key)) === point.toHex(),
			await thrown(subtle.importKey("raw", short, publicKey.algorithm, true, ["verify"]))]`,
			`[true,"DataError"]`,
		},
		// Whether a key may be exported is looked at before its algorithm.
		{
			"a key that is not extractable, of an unknown algorithm",
			`const out = []; for (const [ext, wanted] of [[false, true], [false, false], [true, true]]) out.push(await thrown(
				subtle.importKey("jwk", { kty: "OKP", crv: "Ed448", x: "AAAA", ext }, "Ed448", wanted, [])));
		return out`,
			`["DataError","NotSupportedError","NotSupportedError"]`,
		},
	})
}

func repeat(s string, n int) string {
	out := s
	for range n - 1 {
		out += " " + s
	}
	return out
}

// Refusals: their errors, and the order of the checks.
func TestCryptoErrors(t *testing.T) {
	const key = `const hmac = await subtle.importKey("raw", of("01"), { name: "HMAC", hash: "SHA-256" }, false, ["sign"]),
		data = new Uint8Array(1);
`
	tryCrypto(t, []webtest.Snippet{
		{
			"sign and export",
			key + `return Promise.all([
			subtle.sign("HMAC", {}, data), subtle.sign("HMAC", hmac, "data"), subtle.sign("nothing", hmac, data),
				subtle.sign({}, hmac, data), subtle.sign("ECDSA", hmac, data),
			subtle.sign({ name: "ECDSA", hash: "SHA-256" }, hmac, data), subtle.verify("HMAC", hmac, data, data),
				subtle.sign("AES-CBC", hmac, data),
			subtle.exportKey("raw", hmac), subtle.exportKey("nothing", hmac), subtle.wrapKey("raw", hmac, hmac, "AES-KW"),
				subtle.digest({ name: "\u017fha-1" }, data),
		].map(thrown))`,
			`["TypeError!","TypeError!","NotSupportedError","TypeError!","TypeError!","InvalidAccessError","InvalidAccessError",
				"NotSupportedError","InvalidAccessError","TypeError!","InvalidAccessError","NotSupportedError"]`,
		},
		{
			"importKey",
			`return Promise.all([
			["raw", new Uint8Array(15), "AES-CBC", true, ["encrypt"]], ["raw", new Uint8Array(16), "AES-CBC", true, []],
				["raw", new Uint8Array(15), "AES-CBC", true, ["sign"]], ["raw", new Uint8Array(15), "AES-CBC", true, ["none"]],
			["spki", new Uint8Array(16), "AES-CBC", true, ["encrypt"]], ["none", new Uint8Array(16), "AES-CBC", true, ["encrypt"]],
				["jwk", new Uint8Array(16), "AES-CBC", true, ["encrypt"]], ["raw", {}, "AES-CBC", true, ["encrypt"]],
			["raw", 1, "AES-CBC", true, ["encrypt"]], ["jwk", { kty: "oct", k: "AAAAAAAAAAAAAAAAAAAAAA==" }, "AES-CBC", true, ["encrypt"]],
				["jwk", { kty: "oct", k: "AAAAAAAAAAAAAAAAAAAAAA", alg: "A128GCM" }, "AES-CBC", true, ["encrypt"]],
			["jwk", { kty: "oct", k: "AAAAAAAAAAAAAAAAAAAAAA", ext: false }, "AES-CBC", true, ["encrypt"]],
				["jwk", { kty: "oct", k: "AAAAAAAAAAAAAAAAAAAAAA", key_ops: ["decrypt"] }, "AES-CBC", true, ["encrypt"]],
			["jwk", { kty: "oct", k: "AAAAAAAAAAAAAAAAAAAAAA", use: "sig" }, "AES-CBC", true, ["encrypt"]],
				["jwk", { kty: "oct" }, "AES-CBC", true, ["encrypt"]],
			["raw", new Uint8Array(1), "PBKDF2", true, ["deriveBits"]], ["jwk", {}, "PBKDF2", false, ["deriveBits"]],
				["raw", new Uint8Array(1), "HKDF", false, ["sign"]],
			["raw", new Uint8Array(65), { name: "ECDSA", namedCurve: "P-256" }, true, ["verify"]],
				["raw", new Uint8Array(65), { name: "ECDSA", namedCurve: "P-1" }, true, ["verify"]],
				["raw", new Uint8Array(65), { name: "ECDSA", namedCurve: "P-256" }, true, ["sign"]],
			["raw", new Uint8Array(31), "Ed25519", true, ["verify"]], ["pkcs8", new Uint8Array(31), "Ed25519", true, ["sign"]],
				["spki", new Uint8Array(31), { name: "RSA-PSS", hash: "SHA-1" }, true, ["verify"]],
				["raw", new Uint8Array(31), { name: "RSA-PSS", hash: "SHA-1" }, true, ["decrypt"]],
			["jwk", { kty: "EC", crv: "P-256", x: "AA", y: "AA" }, { name: "ECDSA", namedCurve: "P-256" }, true, ["verify"]],
				["jwk", { kty: "RSA", n: "AQAB", e: "AQAB", d: "AQAB" }, { name: "RSA-PSS", hash: "SHA-1" }, true, ["sign"]],
		].map((a) => thrown(subtle.importKey(...a))))`,
			`["DataError","SyntaxError","SyntaxError","TypeError!","NotSupportedError","TypeError!","TypeError!","TypeError!","TypeError!",
				"DataError","DataError","DataError","DataError","DataError","DataError","SyntaxError","NotSupportedError","SyntaxError",
				"DataError","NotSupportedError","SyntaxError","DataError","DataError","DataError","NotSupportedError","DataError",
				"DataError"]`,
		},
		{
			"generateKey",
			`return Promise.all([
			[{ name: "AES-CBC", length: 100 }, true, ["encrypt"]], [{ name: "AES-CBC", length: 128 }, true, []],
				[{ name: "AES-CBC", length: 70000 }, true, ["encrypt"]], [{ name: "HMAC", hash: "MD5" }, true, ["sign"]],
				[{ name: "HMAC", hash: "SHA-1", length: 0 }, true, ["sign"]],
			[{ name: "ECDSA", namedCurve: "P-256" }, true, ["verify"]], [{ name: "ECDSA", namedCurve: "P-256" }, true, ["decrypt"]],
				["PBKDF2", false, ["deriveBits"]],
			[{ name: "RSA-PSS", hash: "SHA-1", modulusLength: 2048, publicExponent: new Uint8Array([4]) }, true, ["sign"]],
				[{ name: "RSA-PSS", hash: "SHA-1", modulusLength: 16384, publicExponent: new Uint8Array([1, 0, 1]) }, true, ["sign"]],
			[{ name: "RSA-PSS", hash: "SHA-1", modulusLength: 256, publicExponent: new Uint8Array([1, 0, 1]) }, true, ["sign"]],
				[{ name: "RSA-PSS", hash: "SHA-1", modulusLength: 2048, publicExponent: [1, 0, 1] }, true, ["sign"]],
		].map((a) => thrown(subtle.generateKey(...a))))`,
			`["OperationError","SyntaxError","TypeError!","NotSupportedError","OperationError","SyntaxError","SyntaxError",
				"NotSupportedError","OperationError","OperationError","OperationError","TypeError!"]`,
		},
		{
			"derive",
			`const p = await subtle.importKey("raw", of("01"), "PBKDF2", false, ["deriveBits"]),
				h = await subtle.importKey("raw", of("01"), "HKDF", false, ["deriveBits"]), salt = new Uint8Array(1), info = salt,
				hash = "SHA-256";
		return Promise.all([
			subtle.deriveBits({ name: "PBKDF2", hash, salt, iterations: 0 }, p, 8),
				subtle.deriveBits({ name: "PBKDF2", hash, salt, iterations: 2 ** 31 }, p, 8),
				subtle.deriveBits({ name: "PBKDF2", hash, salt, iterations: 1 }, p, 9),
				subtle.deriveBits({ name: "PBKDF2", hash, salt, iterations: 1 }, p),
			subtle.deriveBits({ name: "PBKDF2", hash, salt, iterations: 100000 }, p, 1 << 30),
				subtle.deriveBits({ name: "PBKDF2", hash, salt, iterations: 1 }, p, 2 ** 32 - 8),
				subtle.deriveBits({ name: "HKDF", hash, salt, info }, h, 8 * 32 * 256),
				subtle.deriveBits({ name: "HKDF", hash, salt, info }, p, 8),
			subtle.deriveBits({ name: "PBKDF2", hash, salt, iterations: 1 }, p, 0).then((b) => { throw { name: b.byteLength } }),
				subtle.deriveKey({ name: "PBKDF2", hash, salt, iterations: 1 }, p, { name: "AES-CBC", length: 128 }, true, ["encrypt"]),
		].map(thrown))`,
			`["OperationError","OperationError","OperationError","OperationError","OperationError","OperationError","OperationError",
				"InvalidAccessError","0!","InvalidAccessError"]`,
		},
		{
			"a name that changes the data",
			`const swap = (bytes, good) => ({ get name() { bytes[0] = good; return "SHA-256"; } }), bytes = new Uint8Array([9]);
		return hex(await subtle.digest(swap(bytes, 1), bytes)) === hex(await subtle.digest("SHA-256", of("01")))`,
			`true`,
		},
		{
			"wrong receivers",
			`const key = await subtle.generateKey({ name: "ECDH", namedCurve: "P-256" }, false, ["deriveBits"]);
		return [() => crypto.subtle.sign.call({}), () => new CryptoKey(), () => new SubtleCrypto(), () => new Crypto(),
			() => CryptoKey.prototype.type, () => crypto.getRandomValues(new DataView(new ArrayBuffer(1))),
			() => crypto.getRandomValues(1)].map((f) => { try { const v = f(); v?.catch?.(() => {}); return typeof v;
			} catch (e) { return e.name; } })`,
			`["object","TypeError","TypeError","TypeError","TypeError","TypeMismatchError","TypeError"]`,
		},
	})
}

// A key survives structuredClone, and is an object like any other of
// the platform.
func TestCryptoKey(t *testing.T) {
	tryCrypto(t, []webtest.Snippet{
		{
			"structuredClone of a key",
			`const key = await subtle.importKey("raw", of("0102"), { name: "HMAC", hash: "SHA-1" }, false, ["verify", "sign", "sign"]);
		const copy = structuredClone({ key }).key;
		key.algorithm.name = "changed"; key.usages.length = 0;
		return [copy !== key, copy instanceof CryptoKey, copy.algorithm, copy.usages, copy.extractable,
			hex(await subtle.sign("HMAC", copy, of("00"))) === hex(await subtle.sign("HMAC", key, of("00"))),
			key.algorithm === key.algorithm, ` + "`${key}`" + `, JSON.stringify(key), Object.keys(CryptoKey.prototype).join()]`,
			`[true,true,{"name":"HMAC","hash":{"name":"SHA-1"},"length":16},["sign","verify"],false,true,true,"[object CryptoKey]","{}",
				"type,extractable,algorithm,usages"]`,
		},
		{
			"DigestStream",
			`const stream = new crypto.DigestStream("SHA-256"), writer = stream.getWriter();
		writer.write(of("00")); writer.write("text"); writer.write(new DataView(new ArrayBuffer(3))); await writer.close();
		return [hex(await stream.digest) === hex(await subtle.digest("SHA-256", text("\0text\0\0\0"))), String(stream.bytesWritten),
			typeof stream.bytesWritten, stream instanceof WritableStream, String(stream)]`,
			`[true,"8","bigint",true,"[object DigestStream]"]`,
		},
		{
			"checksums",
			`const sum = async (name) => { const stream = new crypto.DigestStream(name), writer = stream.getWriter(); writer.write("1234");
				writer.write("56789"); writer.close(); return hex(await stream.digest); };
		return [await sum("crc32"), await sum("CRC32C"), await sum({ name: "crc64nvme" }),
			await thrown(subtle.digest("crc32", text("1")))]`,
			`["cbf43926","e3069283","ae8b14860a799888","NotSupportedError"]`,
		},
		{
			"a DigestStream of a body",
			`const stream = new crypto.DigestStream("MD5"); await request.clone().body.pipeTo(stream);
				return hex(await stream.digest) === hex(await subtle.digest("MD5", await request.bytes()))`,
			`true`,
		},
		{
			"a DigestStream that fails",
			`const stream = new crypto.DigestStream("SHA-1"), writer = stream.getWriter(); await writer.write(1).catch(() => {});
				const first = await thrown(stream.digest);
		const other = new crypto.DigestStream("SHA-1"); await other.abort(new RangeError("stop"));
			return [first, await thrown(other.digest), await thrown((async () => new crypto.DigestStream("none"))())]`,
			`["TypeError!","RangeError!","NotSupportedError"]`,
		},
	})
}

// A key made while the module is evaluated still exists in an isolate that starts over from its image.
func TestCryptoKeyOfModule(t *testing.T) {
	w := webtest.Serve(t, `
const key = await crypto.subtle.importKey("raw", new Uint8Array(32), "AES-GCM", false, ["encrypt"]);
const rsa = await crypto.subtle.importKey("jwk", { kty: "OKP", crv: "Ed25519", x: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
		d: "nWGxne_9WmC6hEr0kuwsxERJxWl7MmkZcDusAxyuf2A" }, "Ed25519", false, ["sign"]);
export default { async fetch() {
	const a = await crypto.subtle.encrypt({ name: "AES-GCM", iv: new Uint8Array(12) }, key, new Uint8Array(2)),
		b = await crypto.subtle.sign("Ed25519", rsa, new Uint8Array(1));
	return new Response(new Uint8Array(a).toHex() + " " + new Uint8Array(b).toHex().slice(0, 8));
} };`, web.Options{})
	_, first := w.Get("/")
	if err := w.Isolate.Do(engine.NewScope(t.Context(), 0, nil), func(*engine.VM) error { panic(engine.ErrReset) }); err == nil {
		t.Error("a reset is an error of the turn")
	}
	if _, again := w.Get("/"); again != first || len(first) != 2*18+1+8 {
		t.Errorf("%q, then %q", first, again)
	}
	_, err := webtest.Start(t, `await crypto.subtle.generateKey({ name: "AES-GCM", length: 128 }, true, ["encrypt"]);
		export default { fetch() {} };`, web.Options{})
	if err == nil {
		t.Error("keys cannot be made while the module is evaluated")
	}
}

// The older forms of private keys are read as "pkcs8", as on the platform.
func TestCryptoOlderForms(t *testing.T) {
	pair, err := rsa.GenerateKey(rand.Reader, 1024) //nolint:gosec // small, for the test is not about its strength
	if err != nil {
		t.Fatal(err)
	}
	curve, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	sec1, err := x509.MarshalECPrivateKey(curve)
	if err != nil {
		t.Fatal(err)
	}
	read := func(der []byte, algorithm string) string {
		return fmt.Sprintf(`const key = await crypto.subtle.importKey("pkcs8", Uint8Array.from(atob(%q), (c) => c.charCodeAt(0)), %s, true,
			["sign"]);
		const again = await crypto.subtle.importKey("pkcs8", await crypto.subtle.exportKey("pkcs8", key), key.algorithm, true, ["sign"]);
		const { d } = await crypto.subtle.exportKey("jwk", key);
		return [key.type, d === (await crypto.subtle.exportKey("jwk", again)).d]`, base64.StdEncoding.EncodeToString(der), algorithm)
	}
	const asRSA, asEC = `{ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }`, `{ name: "ECDSA", namedCurve: "P-256" }`
	webtest.Try(t, web.Options{}, []webtest.Snippet{
		{"PKCS #1", read(x509.MarshalPKCS1PrivateKey(pair), asRSA), `["private", true]`},
		{"SEC 1", read(sec1, asEC), `["private", true]`},
		{"SEC 1 as RSA", read(sec1, asRSA), `/DataError/`},
		{"PKCS #1 as ECDSA", read(x509.MarshalPKCS1PrivateKey(pair), asEC), `/DataError/`},
		{"neither form", read([]byte("neither"), asEC), `/DataError/`},
	})
}
