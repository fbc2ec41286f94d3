package main

import (
	"path/filepath"
	"testing"
)

// viewPackages are packages that render components and pictures, with their output. Node 22
// gives the same.
var viewPackages = map[string]string{
	"lit": `{"html":"<!--lit-part CLQLprLepDI=--><h1>Boats <!--lit-part-->&amp; ` +
		`&lt;oars&gt;<!--/lit-part--></h1><!--lit-part--><!--lit-part rY4GDLmHHkw=--><!--lit-node 0--><article class=\" card big \"  ` +
		`title=\"heron\" ><!--lit-part-->heron<!--/lit-part--></article><!--/lit-part--><!--lit-part rY4GDLmHHkw=--><!--lit-node ` +
		`0--><article class=\" card \"  title=\"wren\" ><!--lit-part-->wren<!--/lit-part--></article><!--/lit-part--><!--/lit-part-->` +
		`<!--lit-part--><!--/lit-part--><!--lit-part U9kIB3gYtwo=--><i>raw</i><!--/lit-part--><!--lit-node 5--><input ` +
		`value=\"a&quot;b\"><!--lit-node 6--><boat-card  name=\"Grebe\"><template shadowroot=\"open\" ` +
		`shadowrootmode=\"open\"><style>:host { color: red }</style><!--lit-part ` +
		`sR1wTZEcmlk=--><p><!--lit-part-->Grebe<!--/lit-part--></p><slot></slot><!--/lit-part--></template>in</boat-card>` +
		`<!--/lit-part-->"}`,
	"picture": `{"start":"<svg width=\"200\" height=\"100\" viewBox=\"0 0 200 100\" xmlns=\"http://www.w3.org/2000/svg\"><mask id",` +
		`"paths":2,"size":[200,100],"corner":"18,52,86,255","red":true,"text":true,"png":[137,80,78,71]}`,
	"preact": `{"html":"<h1>Boats &amp; &quot;oars&quot; &lt;b></h1><ul><li style=\"margin-top:4px;color:red;\" data-n=\"4\" ` +
		`class=\"item dark\">heron</li><li style=\"margin-top:4px;color:red;\" data-n=\"6\" class=\"item dark\">wren</li></ul><input ` +
		`value=\"a&quot;b\" disabled/><p><i>raw</i></p><svg viewBox=\"0 0 1 1\"><path stroke-width=\"2\"></path></svg>0",` +
		`"later":"<!--$s--><b>later</b><!--/$s-->","streamed":328}`,
	"react": `{"html":"<html lang=\"en\"><head><title>Boats</title></head><body><ul><li id=\"_R_16_\" class=\"dark\" ` +
		`style=\"margin-top:4px;-webkit-line-clamp:2\" tabindex=\"1\">HERON<!-- --> <!-- -->heron</li><li id=\"_R_26_\" class=\"dark\" ` +
		`style=\"margin-top:4px;-webkit-line-clamp:2\" tabindex=\"1\">&lt;WREN &amp; &quot;B&quot;&gt;<!-- --> <!-- -->&lt;wren &amp; ` +
		`&quot;b&quot;&gt;</li></ul><label for=\"a\">A</label><input readOnly=\"\" value=\"a&amp;b\"/></body></html>","streamed":true,` +
		`"fallbackFirst":true,"then":true,"script":"<script type=\"module\" src=\"/main.js\" nonce=\"n\" id=\"_R_\" async=\"\">",` +
		`"errors":["no such boat"],"ready":true}`,
	"solid": `{"html":"<h1 data-hk=\"00\" title=\"<Jane>\">Hello <!--$-->&lt;Jane><!--/--></h1><ul data-hk=\"01\"><li ` +
		`data-hk=\"0200\" class=\"boat long\" style=\"color:red\"><!--$-->heron<!--/--> of <!--$-->river<!--/-->: ` +
		`<!--$-->5<!--/--></li><li data-hk=\"0210\" class=\"boat long\" style=\"color:red\"><!--$-->wren &amp; co<!--/--> of ` +
		`<!--$-->river<!--/-->: <!--$-->9<!--/--></li></ul><p data-hk=\"030\">nobody</p><div data-hk=\"04\"><i>raw</i></div>",` +
		`"later":"<p data-hk=\"100\">arrived</p><script>self.$R=self.$R||[];_$HY.r[\"0\"]=$R[0]=($R[1]=($R[2]=() => {\n  const ` +
		`resolver = {\n    p: 0,\n    s: 0,\n    f: 0\n  };\n  resolver.p = new Promise((resolve,` +
		` reject) => {\n    resolver.s = resolve;\n    resolver.f = reject;\n  });\n  return ` +
		`resolver;\n})()).p;_$HY.r[\"10\"]=$R[3]=($R[4]=$R[2]()).p;($R[5]=(resolver,` +
		` data) => {\n  resolver.s(data);\n  resolver.p.s = 1;\n  resolver.p.v = data;\n})($R[1],\"arrived\");$R[5]($R[4],` +
		`!0);</script>","streamed":true}`,
	"svelte": `{"head":"<!--4de9bl--><!----><title>Boats of &lt;Jane></title>",` +
		`"body":"<!--[--><h1 class=\"title svelte-4de9bl many\">Hello &lt;Jane>!</h1> <button>2 × 2 = 4</button> <!--[--><span ` +
		`title=\"heron\">heron of river <b>no 0</b><!----></span><span title=\"wren &amp; co\">wren &amp; co of river <b>no ` +
		`1</b><!----></span><!--]--> <!--[0--><!----><i>raw</i><!----><!--]--><!--]-->"}`,
	"vue": `{"html":"<!--[--><h1 title=\"a&quot;b\">Boats &amp; oars</h1><p class=\"count big\" style=\"color:red;\">6 ` +
		`&lt;Jane&gt; <!--[--><b>slot</b><!--]--></p><div><i>raw</i></div><!--teleport start--><!--teleport end--><!--]-->",` +
		`"teleports":{"#modal":"<!--teleport start anchor-->up<!--teleport anchor-->"},"same":true}`,
}

// TestViewPackages runs them in a real Worker; the components of Solid and Svelte are compiled before the bundling.
func TestViewPackages(t *testing.T) {
	dir := filepath.Join(copyExample(t, "packages"), "views")
	runNode(t, dir, "compile.js")
	startDev(t, dir).expectTopics(viewPackages, "")
}
