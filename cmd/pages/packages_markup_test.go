package main

import (
	"path/filepath"
	"testing"
)

// markupPackages are packages for markdown, templates, HTML and mail, and the output of their documentation's examples. Node 22 gives the
// same, except for handlebarsCompile, which makes code from a string: the platform refuses that.
var markupPackages = map[string]string{
	"cheerio": `{"html":"<html><head></head><body><h2 class=\"title welcome\">Hello there!</h2><ul id=\"fruits\"><li ` +
		`class=\"apple\">Apple</li><li>Orange</li><li data-n=\"3\">Pear &amp; plum</li></ul></body></html>","classes":"apple","last":3,` +
		`"list":["Apple","Orange","Pear & plum"],"odd":3,"extracted":{"title":"Hello there!","items":["Apple","Orange","Pear & plum"]},` +
		`"xml":"<a><b/></a>","table":"<table><tbody><tr><td>1</td><td>2</td></tr></tbody></table>"}`,
	"handlebars": `{"html":"<h1>Cart of &lt;Jane&gt;</h1>\n<p>0: 2 × oar</p>\n<p>1: no rope</p>\n\n<a ` +
		`href=\"/?a&#x3D;1&amp;b\">HOME</a>\n"}`,
	"handlebarsCompile": `{"refused":"EvalError: Code generation from strings disallowed for this context","parsed":2,` +
		`"precompiled":"string"}`,
	"linkedom": `{"html":"<!DOCTYPE html><html lang=\"en\"><head><title>Hello!</title></head><body><form><input ` +
		`value=\"a&quot;b\" name=\"user\"><button>Submit</button></form><custom-element who=\"there\">hello ` +
		`there</custom-element></body></html>","heard":["BUTTON"],"cloned":2,"svg":"g"}`,
	"mail": `{"from":{"address":"jane@example.com","name":"Jäne"},"to":[{"address":"bob@example.com","name":"Bob"},` +
		`{"name":"team","group":[{"address":"a@example.com","name":""},{"address":"b@example.com","name":""}]}],"subject":"Grüße ⛵",` +
		`"date":"2024-02-29T12:05:09.000Z","text":"Schöne Grüße, soft break\n","html":"<p>Schöne Grüße</p>\n",` +
		`"attachments":[["grüße.bin","application/octet-stream","attachment",[0,1,2,255]]],"streamed":true,"headers":7}`,
	"markdownIt": `{"html":"<h1>Boats &amp; oars</h1>\n<p>A <em>fast</em> <strong>boat</strong>, <code>code</code>,` +
		` &lt;b&gt;html&lt;/b&gt; and <a href=\"https://example.com\" target=\"_blank\">https://example.com</a>.</p>\n<table>\n<thead>` +
		`\n<tr>\n<th>a</th>\n<th style=\"text-align:center\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td ` +
		`style=\"text-align:center\"><s>2</s></td>\n</tr>\n</tbody>\n</table>\n<ul>\n<li>[x] done</li>\n<li>[ ] ` +
		`open</li>\n</ul>\n<ol>\n<li>one\n<blockquote>\n<p>quoted</p>\n</blockquote>\n</li>\n</ol>\n<pre class=\"js\">7</pre>\n<p><a ` +
		`href=\"https://example.com\" title=\"title\" target=\"_blank\">link</a> <img src=\"a.png\" ` +
		`alt=\"img\">&lt;script&gt;x&lt;/script&gt;</p>\n","inline":"“quoted” – © <strong>x</strong>…","tokens":["heading_open",` +
		`"inline","heading_close"]}`,
	"marked": `{"html":"<h1>Boats &amp; oars</h1>\n<p>A <em>fast</em> <strong>boat</strong>, <code>code</code>,` +
		` <b>html</b> and <a href=\"https://example.com\">https://example.com</a>.</p>\n<table>\n<thead>\n<tr>\n<th>a</th>\n<th ` +
		`align=\"center\">b</th>\n</tr>\n</thead>\n<tbody><tr>\n<td>1</td>\n<td ` +
		`align=\"center\"><del>2</del></td>\n</tr>\n</tbody></table>\n<ul>\n<li><input checked=\"\" disabled=\"\" type=\"checkbox\"> ` +
		`done</li>\n<li><input disabled=\"\" type=\"checkbox\"> open</li>\n</ul>\n<ol>\n<li>one<blockquote>\n<p>quoted</p>` +
		`\n</blockquote>\n</li>\n</ol>\n<pre><code class=\"language-js\">a &lt; b;\n</code></pre>\n<p><a href=\"https://example.com\" ` +
		`title=\"title\">link</a> <img src=\"a.png\" alt=\"img\"><script>x</script></p>\n","inline":"<strong>a</strong> <em>b</em>",` +
		`"own":"<h1 id=\"hi-there\">Hi there</h1>\n<p>Hello <a href=\"/u/jane\">@jane</a>, <a href=\"y?ref\">x</a></p>\n",` +
		`"tokens":["heading","space","paragraph","space","table","space","list","space","list","space","code","space","paragraph"]}`,
	"mustache": `{"text":"Joe &amp; co Joe & co spends 6\n  - a\n  - b\nnothing <b>Hi Joe &amp; co.</b> Joe &amp; co"}`,
	"sanitize": `{"usual":"<p>Hi <b>there</b><a>a</a> <a href=\"https://example.com/?a=1&amp;b=2\">b</a></p>",` +
		`"chosen":"Hi <b>there</b><a rel=\"nofollow\">a</a> <a href=\"https://example.com/?a=1&amp;b=2\" rel=\"nofollow\">b</a><img ` +
		`src=\"x\" />","text":"Hello world"}`,
	"shiki": `{"html":"<pre class=\"shiki nord\" style=\"background-color:#2e3440ff;color:#d8dee9ff\" ` +
		`tabindex=\"0\"><code><span class=\"line\"><span style=\"color:#81A1C1\">const</span><span style=\"color:#D8DEE9\"> ` +
		`a</span><span style=\"color:#81A1C1\"> =</span><span style=\"color:#B48EAD\"> 1</span><span ` +
		`style=\"color:#81A1C1\">;</span><span style=\"color:#616E88\"> // one</span></span>\n<span class=\"line\"><span ` +
		`style=\"color:#81A1C1\">export</span><span style=\"color:#81A1C1\"> function*</span><span style=\"color:#88C0D0\"> ` +
		`gen</span><span style=\"color:#ECEFF4\">()</span><span style=\"color:#ECEFF4\"> {</span><span style=\"color:#81A1C1\"> ` +
		`yield</span><span style=\"color:#81A1C1\"> /</span><span style=\"color:#D8DEE9\">r</span><span ` +
		`style=\"color:#D8DEE9FF\">[</span><span style=\"color:#D8DEE9\">e</span><span style=\"color:#D8DEE9FF\">]</span><span ` +
		`style=\"color:#81A1C1\">+/</span><span style=\"color:#D8DEE9\">g</span><span style=\"color:#ECEFF4\">.</span><span ` +
		`style=\"color:#88C0D0\">test</span><span style=\"color:#D8DEE9FF\">(</span><span style=\"color:#ECEFF4\">\"</span><span ` +
		`style=\"color:#A3BE8C\">x</span><span style=\"color:#ECEFF4\">\"</span><span style=\"color:#D8DEE9FF\">) </span><span ` +
		`style=\"color:#81A1C1\">?</span><span style=\"color:#D8DEE9\"> a</span><span style=\"color:#81A1C1\"> :</span><span ` +
		`style=\"color:#ECEFF4\"> \"</span><span style=\"color:#A3BE8C\">b</span><span style=\"color:#ECEFF4\">\"</span><span ` +
		`style=\"color:#81A1C1\">;</span><span style=\"color:#ECEFF4\"> }</span></span></code></pre>","same":true,` +
		`"tokens":["{|#ECEFF4"," |#D8DEE9FF","\"|#ECEFF4","a|#8FBCBB","\"|#ECEFF4",":|#ECEFF4"," |#D8DEE9FF","[|#ECEFF4","1.5|#B48EAD",` +
		`",|#ECEFF4"," |#D8DEE9FF","null|#81A1C1",",|#ECEFF4"," |#D8DEE9FF","\"|#ECEFF4","x|#A3BE8C","\\n|#EBCB8B","\"|#ECEFF4",` +
		`"]|#ECEFF4"," |#D8DEE9FF","}|#ECEFF4"]}`,
	"turndown": "{\"markdown\":\"# Hello \\\\*world\\\\*\\n\\nA [link](https://example.com \\\"t\\\"), _em_ " +
		"& ~~old~~\\n\\n1.  one\\n2.  two\\n    *   deep\\n\\n```js\\na < b\\n```\"}",
	"unified": `{"html":"<h1>Boats &#x26; oars</h1>\n<p>A <em>fast</em> <strong>boat</strong>, <code>code</code>,` +
		` html and <a href=\"https://example.com\">https://example.com</a>.</p>\n<table>\n<thead>\n<tr>\n<th>a</th>\n<th ` +
		`align=\"center\">b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>1</td>\n<td ` +
		`align=\"center\"><del>2</del></td>\n</tr>\n</tbody>\n</table>\n<ul class=\"contains-task-list\">\n<li ` +
		`class=\"task-list-item\"><input type=\"checkbox\" checked disabled> done</li>\n<li class=\"task-list-item\"><input ` +
		`type=\"checkbox\" disabled> open</li>\n</ul>\n<ol>\n<li>one\n<blockquote>\n<p>quoted</p>\n</blockquote>\n</li>\n</ol>\n<pre>` +
		`<code class=\"language-js\">a &#x3C; b;\n</code></pre>\n<p><a href=\"https://example.com\" title=\"title\">link</a> <img ` +
		`src=\"a.png\" alt=\"img\">x</p>\n<p>A note<sup><a href=\"#user-content-fn-1\" id=\"user-content-user-content-fnref-1\" ` +
		`data-footnote-ref aria-describedby=\"user-content-footnote-label\">1</a></sup></p>\n<section data-footnotes ` +
		`class=\"footnotes\"><h2 class=\"sr-only\" id=\"user-content-footnote-label\">Footnotes</h2>\n<ol>\n<li ` +
		`id=\"user-content-user-content-fn-1\">\n<p>the note <a href=\"#user-content-fnref-1\" data-footnote-backref=\"\" ` +
		`aria-label=\"Back to reference 1\" class=\"data-footnote-backref\">↩</a></p>\n</li>\n</ol>\n</section>"}`,
	"xss": `{"usual":"<p>Hi <b>there</b>&lt;script&gt;alert(1)&lt;/script&gt;<a href>a</a> <a ` +
		`href=\"https://example.com/?a=1&b=2\">b</a><img src></p>","own":"Hi there<a href>a</a> <a ` +
		`href=\"https://example.com/?a=1&b=2\">b</a>","style":"<div style>x</div>"}`,
}

// TestMarkupPackages runs them in a real Worker; the templates of handlebars are compiled before the bundling.
func TestMarkupPackages(t *testing.T) {
	dir := filepath.Join(copyExample(t, "packages"), "markup")
	runNode(t, dir, "precompile.js")
	startDev(t, dir).expectTopics(markupPackages, "")
}
