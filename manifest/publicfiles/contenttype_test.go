package publicfiles

import (
	"maps"
	"path"
	"slices"
	"testing"
)

// atWrangler has the types that wrangler dev answers with, by the name of the file; "" for no type. The names have every extension of
// contentTypes, and some more.
var atWrangler = map[string]string{
	"CNAME":          "",
	"LICENSE":        "",
	"f.7z":           "application/x-7z-compressed",
	"f.aac":          "audio/aac",
	"f.ai":           "application/postscript",
	"f.aif":          "audio/x-aiff",
	"f.aiff":         "audio/x-aiff",
	"f.apk":          "application/vnd.android.package-archive",
	"f.apng":         "image/apng",
	"f.atom":         "application/atom+xml",
	"f.avi":          "video/x-msvideo",
	"f.avif":         "image/avif",
	"f.bin":          "application/octet-stream",
	"f.bmp":          "image/bmp",
	"f.br":           "",
	"f.cjs":          "application/node",
	"f.conf":         "text/plain; charset=utf-8",
	"f.css":          "text/css; charset=utf-8",
	"f.csv":          "text/csv; charset=utf-8",
	"f.dmg":          "application/octet-stream",
	"f.doc":          "application/msword",
	"f.docx":         "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	"f.eot":          "application/vnd.ms-fontobject",
	"f.eps":          "application/postscript",
	"f.epub":         "application/epub+zip",
	"f.exe":          "application/octet-stream",
	"f.flac":         "audio/x-flac",
	"f.geojson":      "application/geo+json",
	"f.gif":          "image/gif",
	"f.glb":          "model/gltf-binary",
	"f.gltf":         "model/gltf+json",
	"f.go":           "",
	"f.gpx":          "application/gpx+xml",
	"f.gz":           "application/gzip",
	"f.gzip":         "",
	"f.hdr":          "",
	"f.heic":         "image/heic",
	"f.htm":          "text/html; charset=utf-8",
	"f.html":         "text/html; charset=utf-8",
	"f.ico":          "image/vnd.microsoft.icon",
	"f.ics":          "text/calendar; charset=utf-8",
	"f.ini":          "text/plain; charset=utf-8",
	"f.iso":          "application/octet-stream",
	"f.jpe":          "image/jpeg",
	"f.jpeg":         "image/jpeg",
	"f.jpg":          "image/jpeg",
	"f.js":           "text/javascript; charset=utf-8",
	"f.json":         "application/json",
	"f.json5":        "application/json5",
	"f.jsonld":       "application/ld+json",
	"f.jsx":          "text/jsx; charset=utf-8",
	"f.jxl":          "image/jxl",
	"f.kml":          "application/vnd.google-earth.kml+xml",
	"f.kmz":          "application/vnd.google-earth.kmz",
	"f.log":          "text/plain; charset=utf-8",
	"f.m3u8":         "application/vnd.apple.mpegurl",
	"f.m4a":          "audio/mp4",
	"f.m4v":          "video/x-m4v",
	"f.map":          "application/json",
	"f.md":           "text/markdown; charset=utf-8",
	"f.mid":          "audio/midi",
	"f.midi":         "audio/midi",
	"f.mjs":          "text/javascript; charset=utf-8",
	"f.mjs.map":      "application/json",
	"f.mka":          "audio/x-matroska",
	"f.mkv":          "video/x-matroska",
	"f.mobileconfig": "",
	"f.mov":          "video/quicktime",
	"f.mp3":          "audio/mpeg",
	"f.mp4":          "video/mp4",
	"f.mpd":          "application/dash+xml",
	"f.obj":          "model/obj",
	"f.ods":          "application/vnd.oasis.opendocument.spreadsheet",
	"f.odt":          "application/vnd.oasis.opendocument.text",
	"f.oga":          "audio/ogg",
	"f.ogg":          "audio/ogg",
	"f.ogv":          "video/ogg",
	"f.opus":         "audio/ogg",
	"f.otf":          "font/otf",
	"f.pdf":          "application/pdf",
	"f.php":          "application/x-httpd-php",
	"f.pkpass":       "application/vnd.apple.pkpass",
	"f.png":          "image/png",
	"f.ppt":          "application/vnd.ms-powerpoint",
	"f.pptx":         "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	"f.ps":           "application/postscript",
	"f.psd":          "image/vnd.adobe.photoshop",
	"f.py":           "",
	"f.rar":          "application/vnd.rar",
	"f.rs":           "application/rls-services+xml",
	"f.rss":          "application/rss+xml",
	"f.rtf":          "application/rtf",
	"f.sh":           "application/x-sh",
	"f.sql":          "application/sql",
	"f.stl":          "model/stl",
	"f.svg":          "image/svg+xml",
	"f.svgz":         "image/svg+xml",
	"f.swf":          "application/x-shockwave-flash",
	"f.tar":          "application/x-tar",
	"f.tif":          "image/tiff",
	"f.tiff":         "image/tiff",
	"f.toml":         "application/toml",
	"f.torrent":      "application/x-bittorrent",
	"f.ts":           "video/mp2t",
	"f.tsv":          "text/tab-separated-values; charset=utf-8",
	"f.tsx":          "",
	"f.ttc":          "font/collection",
	"f.ttf":          "font/ttf",
	"f.txt":          "text/plain; charset=utf-8",
	"f.unknown":      "",
	"f.usdz":         "model/vnd.usdz+zip",
	"f.vcf":          "text/x-vcard; charset=utf-8",
	"f.vtt":          "text/vtt; charset=utf-8",
	"f.wasm":         "application/wasm",
	"f.wat":          "",
	"f.wav":          "audio/wav",
	"f.weba":         "audio/webm",
	"f.webm":         "video/webm",
	"f.webmanifest":  "application/manifest+json",
	"f.webp":         "image/webp",
	"f.wmv":          "video/x-ms-wmv",
	"f.woff":         "font/woff",
	"f.woff2":        "font/woff2",
	"f.xhtml":        "application/xhtml+xml",
	"f.xls":          "application/vnd.ms-excel",
	"f.xlsx":         "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	"f.xml":          "application/xml",
	"f.xpi":          "application/x-xpinstall",
	"f.xsl":          "application/xml",
	"f.yaml":         "text/yaml; charset=utf-8",
	"f.yml":          "text/yaml; charset=utf-8",
	"f.zip":          "application/zip",
	"none":           "",
}

// otherTypes are our types that differ from wrangler's, except for files that both do not know.
var otherTypes = map[string]string{
	"CNAME":          "text/plain; charset=utf-8",
	"LICENSE":        "text/plain; charset=utf-8",
	"f.cjs":          "text/javascript; charset=utf-8",
	"f.flac":         "audio/flac",
	"f.m4v":          "video/mp4",
	"f.mobileconfig": "application/x-apple-aspen-config",
	"f.php":          "application/octet-stream",
	"f.rs":           "application/octet-stream",
	"f.swf":          "application/octet-stream",
	"f.vcf":          "text/vcard; charset=utf-8",
	"f.xsl":          "application/xslt+xml",
	"f.yaml":         "application/yaml",
	"f.yml":          "application/yaml",
}

// TestContentTypesAtWrangler: a file has the type that it has under wrangler dev. DIFFERENCES.md lists the others.
func TestContentTypesAtWrangler(t *testing.T) {
	known := map[string]bool{}
	for _, name := range slices.Sorted(maps.Keys(atWrangler)) {
		known[path.Ext(name)] = true
		want, got := atWrangler[name], ContentType(name)
		if other, differs := otherTypes[name]; differs {
			if other == want {
				t.Errorf("%s is listed as different, and is the same", name)
			}
			want = other
		}
		if want == "" {
			want = "application/octet-stream"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for ext := range contentTypes {
		if !known[ext] {
			t.Errorf("%s was not compared with wrangler dev", ext)
		}
	}
}
