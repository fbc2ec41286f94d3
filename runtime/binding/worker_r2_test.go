package binding_test

import (
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/pages-toolchain/pages/cmd/tools/enginetest"
)

const large = `const big = new Uint8Array(1_500_000).map((_, i) => i % 251);`

var storageScripts = []script{
	{
		"put and get text", `
			const o = await env.BUCKET.put("t", "grüße");
			const g = await env.BUCKET.get("t");
			return [o.key, o.size, o.etag, o.httpEtag, o.uploaded.toISOString(), o.storageClass, o.checksums.toJSON(),
				o.checksums.md5.byteLength, o.range, await g.text(), g.bodyUsed, g.range]`,
		`["t",7,"fee40dc24d0ad6a90c608052aa4e9e66","\"fee40dc24d0ad6a90c608052aa4e9e66\"","2023-11-14T22:13:20.000Z","Standard",` +
			`{"md5":"fee40dc24d0ad6a90c608052aa4e9e66"},16,null,"grüße",true,{"offset":0,"length":7}]`,
	},
	{
		"values", `
			const text = async (value) => { await env.BUCKET.put("v", value); return (await env.BUCKET.get("v")).text(); };
			return [await text(""), await text(null), await text(new TextEncoder().encode("view").subarray(1)),
				await text(new TextEncoder().encode("buf").buffer),
				await text(new Blob(["bl", "ob"])), await text(new Response("stream").body), await text("\ud800")]`,
		`["","","iew","buf","blob","stream","�"]`,
	},
	{"request body", `await env.BUCKET.put("r", request.body); return (await env.BUCKET.get("r")).text()`, `"the request's body"`},
	{
		"other values", `
			const refusals = [];
			for (const value of [5, {}, [1], true, 1n, Symbol(), () => 1, new Response("x"), Promise.resolve("x"),
				new String("x")]) refusals.push(await refused(env.BUCKET.put("v", value)));
			const up = await env.BUCKET.createMultipartUpload("v");
			return [new Set(refusals).size, refusals[0], await refused(env.BUCKET.put("v")),
				(await env.BUCKET.put("v", undefined)).size, await refused(up.uploadPart(1, null))]`,
		`[1,"TypeError: Failed to execute 'put' on 'R2Bucket': parameter 2 is not of type 'JsReadableStream or ArrayBuffer or ` +
			`ArrayBufferView or string or Blob'.","TypeError: Failed to execute 'put' on 'R2Bucket': parameter 2 is not of type ` +
			`'JsReadableStream or ArrayBuffer or ArrayBufferView or string or Blob'.",0,` +
			`"TypeError: Failed to execute 'uploadPart' on 'R2MultipartUpload': parameter 2 is not of type 'JsReadableStream or ` +
			`ArrayBuffer or ArrayBufferView or string or Blob'."]`,
	},
	{
		"arguments", `
			const B = env.BUCKET, up = await B.createMultipartUpload("a"), h = await B.put("a", "x");
			const calls = {
				head: () => B.head(), get: () => B.get(), put: () => B.put(), delete: () => B.delete(),
					create: () => B.createMultipartUpload(),
				symbol: () => B.get(Symbol()), options: () => B.get("a", 5), putOptions: () => B.put("a", "x", "y"),
				listOptions: () => B.list("x"), partOptions: () => up.uploadPart(1, "x", 1),
				createOptions: () => B.createMultipartUpload("a", ""),
				range: () => B.get("a", { range: "bytes=0-1" }), offset: () => B.get("a", { range: { offset: 1n } }),
				onlyIf: () => B.get("a", { onlyIf: 1 }), etag: () => B.get("a", { onlyIf: { etagMatches: null } }),
				date: () => B.get("a", { onlyIf: { uploadedAfter: "2020" } }),
				noDate: () => B.get("a", { onlyIf: { uploadedAfter: new Date(NaN) } }),
				late: () => B.get("a", { onlyIf: { uploadedAfter: 1e15 } }),
				early: () => B.get("a", { onlyIf: { uploadedAfter: -1e15 } }),
				http: () => B.put("a", "x", { httpMetadata: "text/plain" }),
				expiry: () => B.put("a", "x", { httpMetadata: { cacheExpiry: "soon" } }),
				custom: () => B.put("a", "x", { customMetadata: ["x"] }), md5: () => B.put("a", "x", { md5: null }),
				prefix: () => B.list({ prefix: 1 }), include: () => B.list({ include: "httpMetadata" }),
				item: () => B.list({ include: [1] }), limit: () => B.list({ limit: 2 ** 32 }), big: () => B.list({ limit: 1n }),
				none: () => B.list({ limit: null }),
				number: () => up.uploadPart(10001, "x"), huge: () => up.uploadPart(2 ** 31, "x"), parts: () => up.complete(),
				part: () => up.complete(["x"]), partNumber: () => up.complete([{ etag: "x" }]),
				headers: async () => h.writeHttpMetadata({}),
			};
			const lines = [];
			for (const [name, call] of Object.entries(calls)) lines.push(name + " " + await refused(call()));
			try { B.resumeMultipartUpload("a"); } catch (e) { lines.push("resume " + e.message); }
			return new Response(lines.join("\n"))`,
		`head TypeError: Failed to execute 'head' on 'R2Bucket': parameter 1 is not of type 'string'.
get TypeError: Failed to execute 'get' on 'R2Bucket': parameter 1 is not of type 'string'.
put TypeError: Failed to execute 'put' on 'R2Bucket': parameter 1 is not of type 'string'.
delete TypeError: Failed to execute 'delete' on 'R2Bucket': parameter 1 is not of type 'string or Array'.
create TypeError: Failed to execute 'createMultipartUpload' on 'R2Bucket': parameter 1 is not of type 'string'.
symbol TypeError: Cannot convert a Symbol value to a string
options TypeError: Failed to execute 'get' on 'R2Bucket': parameter 2 is not of type 'GetOptions'.
putOptions TypeError: Failed to execute 'put' on 'R2Bucket': parameter 3 is not of type 'PutOptions'.
listOptions TypeError: Failed to execute 'list' on 'R2Bucket': parameter 1 is not of type 'ListOptions'.
partOptions TypeError: Failed to execute 'uploadPart' on 'R2MultipartUpload': parameter 3 is not of type 'UploadPartOptions'.
createOptions TypeError: Failed to execute 'createMultipartUpload' on 'R2Bucket': parameter 2 is not of type 'MultipartOptions'.
range TypeError: Incorrect type for the 'range' field on 'GetOptions': the provided value is not of type 'Range or Headers'.
offset TypeError: Cannot convert a BigInt value to a number
onlyIf TypeError: Incorrect type for the 'onlyIf' field on 'GetOptions': the provided value is not of type 'Conditional or Headers'.
etag TypeError: Incorrect type for the 'etagMatches' field on 'Conditional': the provided value is not of type 'string'.
date TypeError: Incorrect type for the 'uploadedAfter' field on 'Conditional': the provided value is not of type 'date'.
noDate TypeError: The value cannot be converted because it is not a valid Date.
late TypeError: This API doesn't support dates after 2189.
early TypeError: This API doesn't support dates before 1687.
http TypeError: Incorrect type for the 'httpMetadata' field on 'PutOptions': the provided value is not of type 'HttpMetadata or Headers'.
expiry TypeError: Incorrect type for the 'cacheExpiry' field on 'HttpMetadata': the provided value is not of type 'date'.
custom TypeError: Incorrect type for the 'customMetadata' field on 'PutOptions': the provided value is not of type 'object'.
md5 TypeError: Incorrect type for the 'md5' field on 'PutOptions': the provided value is not of type 'BufferSource or string'.
prefix TypeError: Incorrect type for the 'prefix' field on 'ListOptions': the provided value is not of type 'string'.
include TypeError: Incorrect type for the 'include' field on 'ListOptions': the provided value is not of type 'Array'.
item TypeError: Incorrect type for array element 0: the provided value is not of type 'string'.
limit TypeError: Value out of range. Must be between -2147483648 and 2147483647 (inclusive).
big TypeError: Cannot convert a BigInt value to a number
none Error: list: MaxKeys params must be positive integer <= 1000. (10022)
number TypeError: Part number must be between 1 and 10000 (inclusive). Actual value was: 10001
huge TypeError: Value out of range. Must be between -2147483648 and 2147483647 (inclusive).
parts TypeError: Failed to execute 'complete' on 'R2MultipartUpload': parameter 1 is not of type 'Array'.
part TypeError: Incorrect type for array element 0: the provided value is not of type 'UploadedPart'.
partNumber TypeError: Part number must be between 1 and 10000 (inclusive). Actual value was: 0
headers TypeError: Failed to execute 'writeHttpMetadata' on 'HeadResult': parameter 1 is not of type 'Headers'.
resume Failed to execute 'resumeMultipartUpload' on 'R2Bucket': parameter 2 is not of type 'string'.`,
	},
	{
		"coerced arguments", `
			const B = env.BUCKET, text = async (key, o) => (await B.get(key, o)).text();
			await B.put(undefined, "u"); await B.put(5, "five");
			await B.put("co", "0123456789", { customMetadata: { n: 1, b: true, z: null }, httpMetadata: { contentType: 7 } });
			return [await text("undefined"), await text("5"), (await B.head("co")).customMetadata, (await B.head("co")).httpMetadata,
				await text("co", { range: { length: "3" } }), await text("co", { range: { offset: 2, length: Infinity } }),
				await refused(text("co", { range: { length: null } })), await text("co", null),
				(await B.list({ limit: 1.9 })).objects.length, await text("co", { range: new Headers({ range: "bytes=20-" }) })]`,
		`["u","five",{"n":"1","b":"true","z":"null"},{"contentType":"7"},"012","23456789",` +
			`"Error: get: The requested range is not satisfiable (10039)","0123456789",1,"0123456789"]`,
	},
	{
		"shapes", `
			const o = await env.BUCKET.put("sh", "x"), g = await env.BUCKET.get("sh"), l = await env.BUCKET.list({ prefix: "sh" }),
				up = await env.BUCKET.createMultipartUpload("sh");
			return [String(env.BUCKET), String(o), String(g), String(up), Object.keys(o), Object.keys(g.range),
				Object.keys(o.httpMetadata), Object.keys(o.checksums), Object.keys(l), l.objects[0].httpMetadata,
				JSON.stringify(o.checksums)]`,
		`["[object R2Bucket]","[object HeadResult]","[object GetResult]","[object R2MultipartUpload]",["key","version","size","etag",` +
			`"httpEtag","checksums","uploaded","httpMetadata","customMetadata","range","storageClass","ssecKeyMd5"],["offset","length"],` +
			`[],["md5","sha1","sha256","sha384","sha512"],["objects","delimitedPrefixes","truncated"],null,` +
			`"{\"md5\":\"9dd4e461268c8034f5c8564e155c67a6\"}"]`,
	},
	{
		"used streams", `
			const locked = new Response("abc").body; locked.getReader();
			const used = new Response("abc").body; await new Response(used).text();
			const half = new Response("abcdef").body, reader = half.getReader({ mode: "byob" });
			await reader.read(new Uint8Array(2)); reader.releaseLock();
			return [await refused(env.BUCKET.put("us", locked)), await refused(env.BUCKET.put("us", used)),
				await refused(env.BUCKET.put("us", half)), await env.BUCKET.head("us")]`,
		`["TypeError: The ReadableStream has been locked to a reader.","TypeError: The ReadableStream has been locked to a reader.",` +
			`"TypeError: This ReadableStream is disturbed.",null]`,
	},
	{
		"all checksums", `
			const bytes = new TextEncoder().encode("x"), found = {};
			for (const [name, algorithm] of Object.entries({ md5: "MD5", sha1: "SHA-1", sha256: "SHA-256", sha384: "SHA-384",
				sha512: "SHA-512" })) {
				const sum = await crypto.subtle.digest(algorithm, bytes);
				const o = await env.BUCKET.put("ac", "x", { [name]: sum }), again = await env.BUCKET.head("ac");
				await env.BUCKET.put("ac", "x", { [name]: new Uint8Array(sum).toHex().toUpperCase() });
				found[name] = [new Uint8Array(again.checksums[name]).toHex() === new Uint8Array(sum).toHex(),
					o.checksums[name] instanceof ArrayBuffer,
					await refused(env.BUCKET.put("ac", "y", { [name]: sum })).then((e) => e.split("\n")[0].slice(12, 20)),
					await refused(env.BUCKET.put("ac", "x", { [name]: new Uint8Array(3) })),
					await refused(env.BUCKET.put("ac", "x", { [name]: "ab" }))];
			}
			return found`,
		`{"md5":[true,true,"The MD5 ","TypeError: MD5 is 16 bytes, not 3","TypeError: MD5 is 32 hex characters, not 2"],"sha1":[true,` +
			`true,"The SHA-","TypeError: SHA-1 is 20 bytes, not 3","TypeError: SHA-1 is 40 hex characters, not 2"],"sha256":[true,` +
			`true,"The SHA-","TypeError: SHA-256 is 32 bytes, not 3","TypeError: SHA-256 is 64 hex characters, not 2"],` +
			`"sha384":[true,true,"The SHA-","TypeError: SHA-384 is 48 bytes, not 3","TypeError: SHA-384 is 96 hex characters, not 2"],` +
			`"sha512":[true,true,"The SHA-","TypeError: SHA-512 is 64 bytes, not 3",` +
			`"TypeError: SHA-512 is 128 hex characters, not 2"]}`,
	},
	{
		"conditional headers", `
			const o = await env.BUCKET.put("ch", "x"), lines = [];
			for (const [name, value] of [["If-Match", o.httpEtag], ["If-Match", '"a", ' + o.httpEtag + ", junk"], ["If-Match", "*"],
				["If-Match", o.etag], ["If-Match", ""], ["If-Match", '"open'], ["If-Match", 'W/x'], ["If-Match", '"a" "b"'],
				["If-Match", '"a" *'], ["If-Match", '"a" W/"b"'],
				["If-None-Match", "W/" + o.httpEtag], ["If-None-Match", ",,"], ["If-Modified-Since", "Thu, 01 Jan 1970 00:00:00 GMT"],
				["If-Modified-Since", "junk"], ["If-Unmodified-Since", "junk"],
				["If-Unmodified-Since", "Fri, 01 Jan 2100 00:00:00 GMT"]]) {
				const onlyIf = new Headers({ [name]: value });
				const got = await refused(env.BUCKET.get("ch", { onlyIf }).then((g) => "body" in g)),
					stored = await refused(env.BUCKET.put("ch", "x", { onlyIf }).then((p) => p !== null));
				lines.push(name + ": " + value.replace(o.etag, "E") + " -> " + (got === stored ? got : got + " / " + stored));
			}
			return new Response(lines.join("\n"))`,
		`If-Match: "E" -> true
If-Match: "a", "E", junk -> true
If-Match: * -> true
If-Match: E -> Error: Invalid ETag in if-match header
If-Match:  -> Error: Invalid ETag in if-match header
If-Match: "open -> Error: Unclosed double quote for Etag
If-Match: W/x -> Error: Weak etags must start with W/ and their value must be quoted
If-Match: "a" "b" -> Error: Comma was expected to separate etags. Encountered a double quote character '"' instead. This would ` +
			`otherwise indicate the start of a new strong etag.
If-Match: "a" * -> Error: Comma was expected to separate etags. Encountered a wildcard character '*' instead.
If-Match: "a" W/"b" -> Error: Comma was expected to separate etags. Encountered a weak quotation character 'W' instead. This would ` +
			`otherwise indicate the start of a new weak etag.
If-None-Match: W/"E" -> false
If-None-Match: ,, -> Error: Invalid ETag in if-none-match header
If-Modified-Since: Thu, 01 Jan 1970 00:00:00 GMT -> true
If-Modified-Since: junk -> true
If-Unmodified-Since: junk -> false
If-Unmodified-Since: Fri, 01 Jan 2100 00:00:00 GMT -> true`,
	},
	{
		"large", large + `
			const o = await env.BUCKET.put("l", new Blob([big]));
			const same = (a) => a.byteLength === big.byteLength && a.every((v, i) => v === big[i]);
			const whole = await (await env.BUCKET.get("l")).bytes();
			const buffer = await (await env.BUCKET.get("l")).arrayBuffer();
			const streamed = new Uint8Array(await new Response((await env.BUCKET.get("l")).body).arrayBuffer());
			const part = await (await env.BUCKET.get("l", { range: { offset: 500_000, length: 200_000 } })).bytes();
			return [o.size, same(whole), buffer.byteLength, same(streamed), part.byteLength, part[0] === big[500_000]]`,
		`[1500000,true,1500000,true,200000,true]`,
	},
	{
		"body is read once", `
			await env.BUCKET.put("once", "x");
			const g = await env.BUCKET.get("once");
			await g.text();
			const s = await env.BUCKET.get("once");
			s.body.getReader();
			return [await refused(g.text()), await refused(s.text())]`,
		`["TypeError: Body has already been used. It can only be used once. Use tee() first if you need to read it twice.",` +
			`"TypeError: This ReadableStream is currently locked to a reader."]`,
	},
	{
		"json and blob", `
			await env.BUCKET.put("j", '{"a":1}', { httpMetadata: { contentType: "application/json; charset=UTF-8" } });
			const b = await (await env.BUCKET.get("j")).blob();
			return [await (await env.BUCKET.get("j")).json(), b.type, b.size,
				await refused(env.BUCKET.put("j", "{").then(() => env.BUCKET.get("j")).then((o) => o.json()).catch(
					(e) => { throw new Error(e.name); }))]`,
		`[{"a":1},"application/json; charset=UTF-8",7,"Error: SyntaxError"]`,
	},
	{
		"metadata", `
			await env.BUCKET.put("m", "x", { httpMetadata: { contentType: "text/plain", cacheExpiry: new Date(0),
				contentLanguage: "de" }, customMetadata: { b: "1", a: "ü" }, storageClass: "InfrequentAccess" });
			const o = await env.BUCKET.head("m");
			const headers = new Headers();
			o.writeHttpMetadata(headers);
			return [[...headers], Object.entries(o.customMetadata), o.httpMetadata.cacheExpiry instanceof Date, o.storageClass]`,
		`[[["content-language","de"],["content-type","text/plain"],["expires","Thu, 01 Jan 1970 00:00:00 GMT"]],[["b","1"],["a","ü"]],` +
			`true,"InfrequentAccess"]`,
	},
	{
		"metadata of headers", `
			await env.BUCKET.put("m", "x", { httpMetadata: new Headers(
				{ "Content-Type": "a/b", "Cache-Control": "no-store", "X-Other": "1", "Expires": "Thu, 01 Jan 1970 00:00:01 GMT" }) });
			return (await env.BUCKET.head("m")).httpMetadata`,
		`{"contentType":"a/b","cacheControl":"no-store","cacheExpiry":"1970-01-01T00:00:01.000Z"}`,
	},
	{
		"checksums", `
			const sha = await crypto.subtle.digest("SHA-256", new TextEncoder().encode("x"));
			const o = await env.BUCKET.put("c", "x", { sha256: sha });
			return [Object.keys(o.checksums.toJSON()), await refused(env.BUCKET.put("c", "y", { sha256: sha })).then(
				(e) => e.split("\n")[0]),
				await refused(env.BUCKET.put("c", "y", { md5: "00", sha1: "11" })),
				await refused(env.BUCKET.put("c", "y", { md5: "zz".repeat(16) })), await refused(env.BUCKET.put("c", "y", { sha1: sha })),
				await refused(env.BUCKET.put("c", "y", { md5: "00".repeat(16), sha1: "00".repeat(20) }))]`,
		`[["md5","sha256"],"Error: put: The SHA-256 checksum you specified did not match what we received.",` +
			`"TypeError: MD5 is 32 hex characters, not 2","TypeError: Provided MD5 wasn't a valid hex string",` +
			`"TypeError: SHA-1 is 20 bytes, not 32","TypeError: You cannot specify multiple hashing algorithms."]`,
	},
	{
		"absent",
		`return [await env.BUCKET.get("none"), await env.BUCKET.head("none"), await env.BUCKET.delete("none"),
			await env.BUCKET.delete(["none", "nor"])]`,
		`[null,null,null,null]`,
	},
	{
		"conditions", `
			const o = await env.BUCKET.put("if", "x");
			const g = await env.BUCKET.get("if", { onlyIf: { etagDoesNotMatch: o.etag } });
			const h = await env.BUCKET.get("if", { onlyIf: new Headers({ "If-None-Match": o.httpEtag }) });
			return [g.body, g.constructor.name, h.body, await env.BUCKET.put("if", "y", { onlyIf: { etagMatches: "no" } }),
				(await env.BUCKET.put("if", "y", { onlyIf: { etagMatches: o.etag } })).size,
				await refused(env.BUCKET.get("if", { onlyIf: { etagMatches: o.httpEtag } })),
				(await env.BUCKET.get("if", { onlyIf: { uploadedAfter: new Date(0) } })).body !== undefined]`,
		`[null,"HeadResult",null,null,1,"TypeError: Conditional ETag should not be wrapped in quotes ` +
			`(\"9dd4e461268c8034f5c8564e155c67a6\").",true]`,
	},
	{
		"ranges", `
			await env.BUCKET.put("n", "0123456789");
			const at = async (range) => (await env.BUCKET.get("n", { range })).text();
			return [await at({ offset: 2, length: 3 }), await at({ suffix: 2 }), await at(new Headers({ Range: "bytes=7-" })),
				await refused(at({ offset: 20 })), await refused(at({ offset: -1 })),
				await refused(at({ suffix: 1, offset: 1 })), await refused(at({ length: 1.5 }))]`,
		`["234","89","789","Error: get: The requested range is not satisfiable (10039)",` +
			`"RangeError: Invalid range. Starting offset (-1) must be greater than or equal to 0.",` +
			`"TypeError: Suffix is incompatible with offset.","RangeError: Invalid range. Length (1.5) must be an integer, not ` +
			`floating point."]`,
	},
	{
		"list", `
			for (const key of ["p/a", "p/b/c", "p/b/d"]) await env.BUCKET.put(key, key, { customMetadata: { k: key } });
			const plain = await env.BUCKET.list({ prefix: "p/" });
			const split = await env.BUCKET.list({ prefix: "p/", delimiter: "/", include: ["customMetadata"] });
			const first = await env.BUCKET.list({ prefix: "p/", limit: 1 });
			const second = await env.BUCKET.list({ prefix: "p/", limit: 5, cursor: first.cursor });
			const bare = () => plain.objects[0].writeHttpMetadata(new Headers());
			return [plain.objects.map((o) => o.key), plain.truncated, "cursor" in plain, plain.objects[0].customMetadata === undefined,
				split.objects.map((o) => o.customMetadata.k), split.delimitedPrefixes,
				first.truncated, second.objects.map((o) => o.key), await refused((async () => bare())()),
				await refused(env.BUCKET.list({ limit: 0 })), await refused(env.BUCKET.list({ include: ["x"] }))]`,
		`[["p/a","p/b/c","p/b/d"],false,false,true,["p/a"],["p/b/"],true,["p/b/c","p/b/d"],` +
			`"TypeError: HTTP metadata unknown for key ` + "`p/a`" + `. Did you forget to add 'httpMetadata' to ` + "`include`" +
			` when listing?",` +
			`"Error: list: MaxKeys params must be positive integer <= 1000. (10022)","RangeError: Unsupported include value x"]`,
	},
	{
		"list places", `
			for (const key of ["q/a", "q/b/1", "q/b/2", "q/c/1", "q/d"]) await env.BUCKET.put(key, key,
				{ httpMetadata: { contentType: "a/b" } });
			const of = async (o) => { const l = await env.BUCKET.list({ prefix: "q/", ...o });
				return [...l.objects.map((o) => o.key), ...l.delimitedPrefixes.map((p) => p + "*"), l.truncated].join(" "); };
			const pages = [];
			let cursor;
			do { const l = await env.BUCKET.list({ prefix: "q/", delimiter: "/", limit: 1, cursor });
				pages.push(l.objects[0]?.key ?? l.delimitedPrefixes[0]); cursor = l.cursor; } while (cursor !== undefined);
			return [await of({ startAfter: "q/b/1" }), await of({ startAfter: "q/b/1", delimiter: "/" }),
				await of({ startAfter: "q/z" }), await of({ delimiter: "" }), await of({ delimiter: "b/" }), pages,
				(await env.BUCKET.list({ prefix: "q/d", include: ["httpMetadata"] })).objects[0].httpMetadata.contentType,
				await refused(env.BUCKET.list({ cursor: "?" }))]`,
		`["q/b/2 q/c/1 q/d false","q/d q/b/* q/c/* false","false","q/a q/b/1 q/b/2 q/c/1 q/d false","q/a q/c/1 q/d q/b/* false",` +
			`["q/a","q/b/","q/c/","q/d"],"a/b","Error: list: The cursor is not one that a list returned. (10029)"]`,
	},
	{
		"limits", `
			const B = env.BUCKET, key = "k".repeat(1024);
			await B.put(key, "x", { customMetadata: { k: "é".repeat(8191) } });
			return [(await B.head(key)).customMetadata.k.length, await refused(B.put(key + "k", "x")),
				await refused(B.get("é".repeat(513))), await refused(B.createMultipartUpload(key + "k")),
				await refused(B.delete([key, ""])), (await B.head(key)) !== null,
				await refused(B.put("k", "x", { customMetadata: { k: "é".repeat(8192) } })),
				await refused(B.put("k", "x", { customMetadata: { k: "€".repeat(4096) } })),
				await refused(B.createMultipartUpload("k", { customMetadata: { k: "x".repeat(8192) } })),
				await refused(B.delete(Array(1001).fill("k"))), await B.delete(Array(1000).fill("k")) ?? "ok",
				await refused(B.put("k", "x", { storageClass: "Cold" })), await refused(B.list({ limit: 1001 }))]`,
		`[8191,"Error: put: The specified object name is not valid. (10020)",` +
			`"Error: get: The specified object name is not valid. (10020)",` +
			`"Error: createMultipartUpload: The specified object name is not valid. (10020)",` +
			`"Error: delete: The specified object name is not valid. (10020)",true,` +
			`"Error: put: Your metadata headers exceed the maximum allowed metadata size. (10012)",` +
			`"Error: put: Your metadata headers exceed the maximum allowed metadata size. (10012)",` +
			`"Error: createMultipartUpload: Your metadata headers exceed the maximum allowed metadata size. (10012)",` +
			`"Error: delete: at most 1000 keys can be deleted at once, not 1001. (10029)","ok",` +
			`"Error: put: \"Cold\" is not a storage class; use Standard or InfrequentAccess. (10029)",` +
			`"Error: list: MaxKeys params must be positive integer <= 1000. (10022)"]`,
	},
	{
		"conditional times", `
			const o = await env.BUCKET.put("ct", "x"), ms = o.uploaded.getTime(), held = [];
			for (const onlyIf of [{ uploadedBefore: new Date(ms + 1) }, { uploadedBefore: ms }, { uploadedAfter: new Date(ms - 1) },
				{ uploadedAfter: ms }, { uploadedAfter: ms - 999, secondsGranularity: false },
				{ uploadedBefore: new Date(ms + 999), secondsGranularity: true },
				{ etagMatches: o.etag, uploadedBefore: new Date(0) }, { etagDoesNotMatch: "x", uploadedAfter: new Date(ms + 9) },
				{ etagMatches: "" }, { etagMatches: "*" }, { etagDoesNotMatch: "*" }]) held.push(
					"body" in await env.BUCKET.get("ct", { onlyIf }) ? 1 : 0);
			return [held.join(""), await env.BUCKET.put("none", "x", { onlyIf: { etagMatches: "*" } }),
				(await env.BUCKET.put("new", "x", { onlyIf: { etagDoesNotMatch: "*" } })).key]`,
		`["10101011010",null,"new"]`,
	},
	{
		"multipart refusals", `
			const up = await env.BUCKET.createMultipartUpload("mr",
				{ httpMetadata: new Headers({ "Content-Type": "a/b" }), storageClass: "InfrequentAccess" });
			const whole = new Uint8Array(5 << 20), one = await up.uploadPart(1, whole),
				two = await up.uploadPart(2, new Blob([whole, "x"])), small = await up.uploadPart(3, "tail"), lines = [];
			for (const parts of [[], [{ partNumber: 4, etag: one.etag }], [{ partNumber: 1, etag: "no" }], [one, one], [small, one],
				[one, two, small], [one, two]]) lines.push((await refused(up.complete(parts))).slice(32));
			const again = await up.uploadPart(2, whole.subarray(1));
			lines.push((await refused(up.complete([one, two]))).slice(32));
			const o = await up.complete([one, small]);
			const ended = env.BUCKET.resumeMultipartUpload("mr", up.uploadId);
			return [lines, o.size, o.etag.endsWith("-2"), o.storageClass, o.httpMetadata.contentType, o.checksums.toJSON(),
				await ended.abort() ?? "ok", await refused(ended.complete([one])),
				await refused(env.BUCKET.resumeMultipartUpload("other", up.uploadId).abort()), again.partNumber,
				new TextDecoder().decode(await (await env.BUCKET.get("mr", { range: { suffix: 5 } })).bytes())]`,
		`[["One or more of the specified parts could not be found. (10025)",` +
			`"One or more of the specified parts could not be found. (10025)",` +
			`"One or more of the specified parts could not be found. (10025)",` +
			`"We encountered an internal error. Please try again. (10001)",` +
			`"Your proposed upload is smaller than the minimum allowed object size. (10011)",` +
			`"There was a problem with the multipart upload. (10048)","There was a problem with the multipart upload. (10048)",` +
			`"One or more of the specified parts could not be found. (10025)"],5242884,true,"InfrequentAccess","a/b",{},"ok",` +
			`"Error: completeMultipartUpload: The specified multipart upload does not exist. (10024)",` +
			`"Error: abortMultipartUpload: The specified multipart upload does not exist. (10024)",2,"\u0000tail"]`,
	},
	{"delete many", `
			await env.BUCKET.put("d1", "x"); await env.BUCKET.put("d2", "x");
			await env.BUCKET.delete(["d1", "d2"]);
			return [await env.BUCKET.head("d1"), await env.BUCKET.head("d2")]`, `[null,null]`},
	{
		"multipart", `
			const up = await env.BUCKET.createMultipartUpload("mp", { customMetadata: { a: "1" } });
			const part = await up.uploadPart(1, new Blob(["part one"]));
			const again = env.BUCKET.resumeMultipartUpload("mp", up.uploadId);
			const o = await again.complete([part]);
			const g = await env.BUCKET.get("mp");
			return [up.key, part.partNumber, o.etag.endsWith("-1"), o.customMetadata, await g.text(), await refused(up.abort()) ?? "ok",
				await refused(up.uploadPart(2, "x")), await refused(up.uploadPart(0, "x"))]`,
		`["mp",1,true,{"a":"1"},"part one","ok","Error: uploadPart: The specified multipart upload does not exist. (10024)",` +
			`"TypeError: Part number must be between 1 and 10000 (inclusive). Actual value was: 0"]`,
	},
	{
		"broken stream", `
			await env.BUCKET.put("bs", "before");
			let n = 0;
			const fixed = new FixedLengthStream(30);
			new ReadableStream({ pull(c) { if (n++ < 2) c.enqueue(new Uint8Array(10)); else c.error(new Error("cut off")); } }).pipeTo(
				fixed.writable).catch(() => {});
			return [await refused(env.BUCKET.put("bs", fixed.readable)), await (await env.BUCKET.get("bs")).text()]`,
		`["Error: cut off","before"]`,
	},
	{
		"known lengths", `
			await env.BUCKET.put("len", "0123456789");
			const part = await env.BUCKET.get("len", { range: { length: 4 } });
			const copy = await env.BUCKET.put("copy", part.body);
			const asset = (await env.ASSETS.fetch("http://x/measured.txt")).body;
			const fixed = (length, bytes) => {
				const { readable, writable } = new FixedLengthStream(length), writer = writable.getWriter();
				writer.write(new Uint8Array(bytes)).then(() => writer.close()).catch(() => {});
				return readable;
			};
			return [copy.size, (await env.BUCKET.put("k", new Response("abcd").body)).size, (await env.BUCKET.put("k", asset)).size,
				(await env.BUCKET.put("k", fixed(3, 3))).size, await refused(env.BUCKET.put("k", fixed(4, 3))),
				(await env.BUCKET.head("k")).size]`,
		`[4,4,8,3,"TypeError: FixedLengthStream did not see all expected bytes before close().",3]`,
	},
	{
		"lengths of branches", `
			const body = () => new Response("abcd").body, half = body(), reader = half.getReader({ mode: "byob" });
			const [a, b] = body().tee(), clone = new Response("abcde").clone(), copied = request.clone();
			await reader.read(new Uint8Array(1)); reader.releaseLock();
			return [(await env.BUCKET.put("br", a)).size, await new Response(b).text(), (await env.BUCKET.put("br", clone.body)).size,
				(await env.BUCKET.put("br", copied.body)).size, await request.text(),
				await refused(env.BUCKET.put("br", half.tee()[0]).then((o) => "stored " + o.size)).then((e) => e.slice(0, 31)),
				ReadableStream.prototype.tee.name,
				Object.getOwnPropertyDescriptor(ReadableStream.prototype, "tee").enumerable]`,
		`[4,"abcd",5,18,"the request's body","TypeError: Provided readable st","tee",true]`,
	},
	{
		"unknown lengths", `
			await env.BUCKET.put("un", "before");
			const own = () => new ReadableStream({ start(c) { c.enqueue(new Uint8Array(3)); c.close(); } });
			const all = [own(), new Response(own()).body, new Response("a").body.pipeThrough(new IdentityTransformStream())];
			const up = await env.BUCKET.createMultipartUpload("un");
			const errors = await Promise.all([...all.map((stream) => refused(env.BUCKET.put("un", stream))),
				refused(up.uploadPart(1, own()))]);
			return [errors.length, [...new Set(errors)], await (await env.BUCKET.get("un")).text()]`,
		`[4,["TypeError: Provided readable stream must have a known length (request/response body or readable half of ` +
			`FixedLengthStream)"],"before"]`,
	},
	{"errors", `await env.BUCKET.put("", "x")`, `"thrown Error: put: The specified object name is not valid. (10020)"`},
	{
		"encryption", `
			const up = await env.BUCKET.createMultipartUpload("e"), key = "0f".repeat(32), refusals = [];
			for (const call of [(o) => env.BUCKET.get("e", o), (o) => env.BUCKET.put("e", "x", o), (o) => up.uploadPart(1, "x", o),
				(o) => env.BUCKET.createMultipartUpload("e", o)]) refusals.push(await refused(call({ ssecKey: key })));
			return [await refused(env.BUCKET.put("e", "x", { ssecKey: "zz" })),
				await refused(env.BUCKET.put("e", "x", { ssecKey: "00" })),
				await refused(env.BUCKET.put("e", "x", { ssecKey: new Uint8Array(3) })), ...new Set(refusals)]`,
		`["Error: SSE-C Key has invalid format","Error: SSE-C Key must be 32 bytes in length",` +
			`"Error: SSE-C Key must be 32 bytes in length","TypeError: ssecKey is not supported by this runtime: objects cannot be ` +
			`encrypted with a key of your own"]`,
	},
	{"answer with a body", `
			await env.BUCKET.put("served", "served body", { httpMetadata: { contentType: "text/x" } });
			return new Response((await env.BUCKET.get("served")).body)`, `served body`},
}

// storageInWorkerd are the results of scripts in workerd, whose classes tell their members otherwise, and whose client refuses less itself.
var storageInWorkerd = map[string]string{
	"values": `["","","iew","buf","blob","stream","���"]`,
	"shapes": `["[object R2Bucket]","[object HeadResult]","[object GetResult]","[object R2MultipartUpload]",["ssecKeyMd5",` +
		`"storageClass","range","customMetadata","httpMetadata","uploaded","checksums","httpEtag","etag","size","version","key"],` +
		`["offset","length","suffix"],["contentType","contentLanguage","contentDisposition","contentEncoding","cacheControl",` +
		`"cacheExpiry"],["sha512","sha384","sha256","sha1","md5"],["objects","truncated","cursor","delimitedPrefixes"],null,` +
		`"{\"md5\":\"9dd4e461268c8034f5c8564e155c67a6\"}"]`,
	"checksums": `[["md5","sha1","sha256","sha384","sha512"],` +
		`"Error: put: The SHA-256 checksum you specified did not match what we received.",` +
		`"TypeError: MD5 is 32 hex characters, not 2","TypeError: Provided MD5 wasn't a valid hex string",` +
		`"TypeError: SHA-1 is 20 bytes, not 32","TypeError: You cannot specify multiple hashing algorithms."]`,
	"list": `[["p/a","p/b/c","p/b/d"],false,true,true,["p/a"],["p/b/"],true,["p/b/c","p/b/d"],` +
		`"TypeError: HTTP metadata unknown for key ` + "`p/a`" + `. Did you forget to add 'httpMetadata' to ` + "`include`" +
		` when listing?",` +
		`"Error: list: MaxKeys params must be positive integer <= 1000. (10022)","RangeError: Unsupported include value x"]`,
	"lengths of branches": `[4,"abcd",5,18,"the request's body","stored 3","tee",true]`,
	"encryption": `["Error: SSE-C Key has invalid format","Error: SSE-C Key must be 32 bytes in length",` +
		`"Error: SSE-C Key must be 32 bytes in length","` + encrypted("get") + `","` + encrypted("put") + `","` +
		encrypted("uploadPart") + `","` + encrypted("createMultipartUpload") + `"]`,
}

func encrypted(call string) string {
	return "Error: " + call + ": ssecKey is not supported by this runtime: objects cannot be encrypted with a key of your own (10029)"
}

// testLengths answers with bodies that come from bindings: how long they are is
// known.
func testLengths(t *testing.T, e *enginetest.Engine) {
	answer, _ := newRequester(t, e, []script{
		{name: "storage", code: `await env.BUCKET.put("k", "0123456789"); return new Response((await env.BUCKET.get("k")).body)`},
		{
			name: "range",
			code: `await env.BUCKET.put("k", "0123456789"); return new Response((await env.BUCKET.get("k", { range: { suffix: ` +
				`3 } })).body)`,
		},
		{name: "large", code: `await env.BUCKET.put("k", new Uint8Array(300000)); return new Response((await env.BUCKET.get("k")).body)`},
		{name: "asset", code: `return new Response((await env.ASSETS.fetch("http://x/measured.txt")).body)`},
		{name: "chunked", code: `return refused(env.BUCKET.put("k", request.body))`},
		{name: "unknown", code: `return new Response((await env.ASSETS.fetch("http://x/large.bin")).body)`},
	})
	for name, want := range map[string]string{"storage": "10", "range": "3", "large": "300000", "asset": "8", "unknown": ""} {
		rec, err := answer(name, nil)
		if err != nil {
			t.Fatal(name, err)
		}
		if got := rec.Header().Get("Content-Length"); got != want || (want != "" && strconv.Itoa(rec.Body.Len()) != want) {
			t.Errorf("%s: Content-Length %q of %d bytes, want %q", name, got, rec.Body.Len(), want)
		}
	}
	rec, err := answer("chunked", io.MultiReader(strings.NewReader("chunked")))
	if err != nil || !strings.HasPrefix(rec.Body.String(), `"TypeError: Provided readable stream must have a known length`) {
		t.Errorf("chunked: %s %v", rec.Body, err)
	}
}
