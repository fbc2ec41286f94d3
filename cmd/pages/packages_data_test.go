package main

import (
	"path/filepath"
	"testing"
)

// dataPackages are packages of formats, checks, dates, search and state, and the results of their documentation's examples. Node 22 gives
// the same results, except for ajv and template of es-toolkit: they make code from strings, which the platform refuses.
var dataPackages = map[string]string{
	"ajv": `{"refused":"EvalError: Code generation from strings disallowed for this context"}`,
	"cookie": `{"parsed":{"foo":"bar","equation":"E=mc^2"},"text":"name=a%20b%3B%C3%B6; Max-Age=604800; Path=/; Expires=Thu,` +
		` 01 Jan 1970 00:00:00 GMT; HttpOnly; Secure; Partitioned; SameSite=Lax"}`,
	"csv": `{"data":[{"name":"Jane \"J\" Doe","n":1},{"name":"Bob","n":2}],"delimiter":";","text":"a,b\r\n1,\"x,y\"\r\n2,` +
		`\"q\"\"\"","errors":["MissingQuotes"]}`,
	"dateFns": `{"format":"Today is a Tuesday, 11th February 2014","french":"mardi 11 février 2014","distance":"6 months ago",` +
		`"relative":"samedi dernier à 00:00","parsed":"2014-02-11T17:00:00.000Z","invalid":false,"weeks":8,"duration":{"years":39,` +
		`"months":2,"days":20,"hours":7,"minutes":5},"business":"2014-09-15T00:00:00.000Z","monday":10,"days":366}`,
	"devalue": `{"code":"{a:\"\\u003C/script>\",d:new Date(0),m:new Map([[1,new Set([])]])}","back":[true,false,true,` +
		`"100000000000000000000",3],"refused":"Cannot stringify a function .deep[0]"}`,
	"effect": `{"sum":8,"caught":"cannot divide by zero","retried":3,"slow":"None"}`,
	"esToolkit": `{"chunk":[[1,2],[3,4],[5]],"grouped":{"4":[4.2],"6":[6.1,6.3]},"equal":true,"merged":{"a":[{"b":2,"c":3},{"d":4,` +
		`"e":5}]},"union":[2.1,1.2],"snake":{"user_id":1,"nested":{"full_name":"x"}},"calls":1,` +
		`"refused":"EvalError: Code generation from strings disallowed for this context"}`,
	"feed": `{"rss":"<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<rss version=\"2.0\">\n    <channel>\n        <title>River ` +
		`&amp; boats</title>\n        <link>https://example.com/</link>\n        <description>News</description>\n        ` +
		`<lastBuildDate>Thu, 01 Jan 1970 00:00:00 GMT</lastBuildDate>\n        ` +
		`<docs>https://validator.w3.org/feed/docs/rss2.html</docs>\n        <generator>pages</generator>\n        ` +
		`<copyright>2024</copyright>\n        <item>\n            <title><![CDATA[First <launch>]]></title>\n            ` +
		`<link>https://example.com/1?a=1&amp;b=2</link>\n            <guid isPermaLink=\"false\">https://example.com/1</guid>\n        ` +
		`    <pubDate>Fri, 02 Jan 1970 00:00:00 GMT</pubDate>\n            <description><![CDATA[It floats]]></description>\n          ` +
		`  <author>jane@example.com (Jane)</author>\n        </item>\n    </channel>\n</rss>",` +
		`"atom":"<?xml version=\"1.0\" encoding=\"utf-8\"?>\n<feed xmlns=\"http://www.w3.org/2005/Atom\">\n    ` +
		`<id>https://example.com/</id>\n    <title>River &amp; boats</title>\n    <updated>1970-01-01T00:00:00.000Z</updated>\n    ` +
		`<generator>pages</generator>\n    <link rel=\"alternate\" href=\"https://example.com/\"/>\n    <subtitle>News</subtitle>\n    ` +
		`<rights>2024</rights>\n    <entry>\n        <title type=\"html\"><![CDATA[First <launch>]]></title>\n        ` +
		`<id>https://example.com/1</id>\n        <link href=\"https://example.com/1?a=1&amp;b=2\"/>\n        ` +
		`<updated>1970-01-02T00:00:00.000Z</updated>\n        <summary type=\"html\"><![CDATA[It floats]]></summary>\n        ` +
		`<author>\n            <name>Jane</name>\n            <email>jane@example.com</email>\n        </author>\n    ` +
		`</entry>\n</feed>","json":{"version":"https://jsonfeed.org/version/1","title":"River & boats",` +
		`"home_page_url":"https://example.com/","description":"News","items":[{"id":"https://example.com/1","content_html":"It floats",` +
		`"url":"https://example.com/1?a=1&b=2","title":"First <launch>","date_modified":"1970-01-02T00:00:00.000Z",` +
		`"author":{"name":"Jane"}}]}}`,
	"fuse": `[["Old Man's War",0,"0.5774",1]]`,
	"globs": `{"js":true,"plus":false,"deep":true,"not":true,"braces":["a1","a2","a3","b1","b2","b3"],"posix":true,` +
		`"filtered":["a.js"]}`,
	"ical": `{"summary":"Déjà rowed, twice","end":"2024-02-29T11:30:00","starts":["2024-02-29T10:00:00","2024-03-07T10:00:00",` +
		`"2024-03-14T10:00:00"],"long":5400}`,
	"immer": `{"next":[{"title":"Learn TypeScript","done":true},{"title":"Try Immer","done":true},{"title":"Tweet about it",` +
		`"done":false}],"kept":2,"shared":true,"frozen":true,"size":2,"patches":[{"op":"add","path":["b"],"value":2}],` +
		`"inverse":[{"op":"remove","path":["b"]}]}`,
	"jsonC":  `{"value":{"a":[1,2]},"errors":0,"edited":"{\n  // a comment\n  \"a\": [1, \"two\",],\n}","at":["a",1]}`,
	"lodash": `{"get":3,"camel":"fooBar","zip":{"a":{"b":[{"c":1},{"d":2}]}},"ordered":[34,48,40],"copied":true,"calls":2}`,
	"mime":   `{"type":"text/plain","wasm":"application/wasm","extension":"jpg","none":null}`,
	"miniSearch": `{"art":[[2,"9.926307","zen,art,motorcycle"],[4,"3.714422","zen,art"]],"fuzzy":["Moby Dick"],"prefix":1,` +
		`"suggest":["zen archery art","zen art"]}`,
	"nanoStores": `{"seen":[0,1],"mounted":1,"profile":{"name":"Kazimir"}}`,
	"pako": `{"packed":76,"head":[120,156],"zipped":[31,139,8],"back":true,"unzipped":true,` +
		`"refused":"Error: incorrect header check"}`,
	"paths": `{"found":{"path":"/users/123/delete","params":{"id":"123"}},"wild":{"path":["a","b c","d"]},"none":false,` +
		`"url":"/u/a%20b/x/y%2Fz","refused":"TypeError"}`,
	"qr":      `{"svg":1202,"start":"<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 33 33\" ","size":25,"dark":306,"text":2}`,
	"rxjs":    `{"sums":[2,6],"ticks":[0,10,20],"flaky":[1,3]}`,
	"slugify": `{"plain":"some-string","strict":"unicode-and-dollar-love-privet","german":"AEpfel_ueber"}`,
	"superJson": `{"text":{"json":{"when":"1970-01-01T00:00:00.000Z","set":[1,"two"],"map":[["k","10"]],"re":"/a+/gi","none":null,` +
		`"nan":"NaN","url":"https://example.com/a?b"},"meta":{"values":{"when":["Date"],"set":["set"],"map":["map",{"0.1":["bigint"]}],` +
		`"re":["regexp"],"none":["undefined"],"nan":["number"],"url":["URL"]},"v":1}},"back":[0,true,true,"gi",true,"?b"]}`,
	"toml": `{"parsed":{"title":"TOML","big":1000,"owner":{"dob":"1979-05-27T07:32:00.000-08:00","day":"1979-05-27"},` +
		`"fruits":[{"name":"apple"}]},"text":"[a]\nb = [ 1.5, \"x\" ]\nwhen = 1970-01-01T00:00:00.000Z\n","error":"1:5"}`,
	"translated": `{"key":"cześć &lt;b&gt;","boats":["1 łódź","3 łodzie","5 łodzi"],"fallback":"in English","price":"1234,50",` +
		`"missing":"no.such","dir":"rtl"}`,
	"ulid": `{"length":26,"time":1469918176385,"start":"01ARYZ6S41","order":true,"valid":[true,false]}`,
	"valibot": `{"parsed":{"email":"jane@example.com","password":"12345678"},` +
		`"flat":{"nested":{"password":["Invalid length: Expected >=8 but received 3"]}},"refused":"Please enter your email.",` +
		`"later":["This name is taken."],"variant":true,"emoji":true}`,
	"xml": `{"value":{"?xml":{"@version":"1.0"},"root":{"b":[1,"two & three"],"c":"<raw>","@a":"nice"}},` +
		`"text":"<?xml version=\"1.0\"?><root a=\"nice\"><b>1</b><b>two &amp; three</b><c>&lt;raw&gt;</c></root>"}`,
	"yaml": `{"value":{"YAML":["A human-readable data serialization language","https://en.wikipedia.org/wiki/YAML"],` +
		`"yaml":[{"complete":"yes","date":"2001-12-14"},"A library for parsing"],"both":[{"complete":"yes","date":"2001-12-14"},` +
		`"A library for parsing"],"long":"folded text"},"kept":"# file.yml\nYAML:\n  - A human-readable data serialization language\n  ` +
		`- https://en.wikipedia.org/wiki/YAML\nyaml: &lib\n  - { complete: yes,` +
		` date: 2001-12-14 }\n  - A library for parsing\nboth: *lib\nlong: >-\n  folded text\nadded:\n  by: code\n",` +
		`"text":"- true\n- false\n- maybe\n- null\n- multi: |\n    a\n    b\n",` +
		`"error":["Flow sequence in block collection must be sufficiently indented and end with a ] at line 2, column 1:"]}`,
	"zod": `{"joined":"2024-02-29T00:00:00.000Z","issues":[["username","too_small",` +
		`"Too small: expected string to have >=3 characters"],["xp","invalid_type","Invalid input: expected number, received string"],` +
		`["email","invalid_format","Invalid email address"],["joined","invalid_type","Invalid input: expected date, received Date"]],` +
		`"pretty":8,"tree":["Too small: expected string to have >=3 characters"],"union":[true,false],"big":"12345678901234567890",` +
		`"schema":{"$schema":"https://json-schema.org/draft/2020-12/schema","type":"object","properties":{"username":{"type":"string",` +
		`"minLength":3},"xp":{"type":"number"},"email":{"type":"string","format":"email",` +
		`"pattern":"^(?:[A-Za-z0-9_'+\\-]+\\.)*[A-Za-z0-9_'+\\-]*[A-Za-z0-9_+-]@(?:[A-Za-z0-9][A-Za-z0-9\\-]*\\.)+[A-Za-z]{2,}$"}},` +
		`"required":["username","xp"],"additionalProperties":false},"piped":"Too big: expected number to be <=3","mini":2}`,
}

// TestDataPackages runs them in a real Worker, built by the real bundler.
func TestDataPackages(t *testing.T) {
	dir := filepath.Join(copyExample(t, "packages"), "data")
	startDev(t, dir).expectTopics(dataPackages, "")
}
