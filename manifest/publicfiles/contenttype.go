package publicfiles

import (
	"path"
	"strings"
)

// ContentType returns the value of the Content-Type header for a file of that name. The table is our own: the operating
// system's differs between machines, and so would the digest.
func ContentType(name string) string {
	if t, ok := contentTypes[strings.ToLower(path.Ext(name))]; ok {
		return t
	}
	if strings.HasPrefix(path.Base(name), "LICENSE") || path.Base(name) == "CNAME" {
		return "text/plain; charset=utf-8"
	}
	return "application/octet-stream"
}

// contentTypes follows the IANA registry and, for scripts, RFC 9239.
var contentTypes = map[string]string{
	".html": "text/html; charset=utf-8",
	".htm":  "text/html; charset=utf-8",
	".css":  "text/css; charset=utf-8",
	".js":   "text/javascript; charset=utf-8",
	".mjs":  "text/javascript; charset=utf-8",
	".cjs":  "text/javascript; charset=utf-8",
	".txt":  "text/plain; charset=utf-8",
	".log":  "text/plain; charset=utf-8",
	".conf": "text/plain; charset=utf-8",
	".ini":  "text/plain; charset=utf-8",
	".md":   "text/markdown; charset=utf-8",
	".csv":  "text/csv; charset=utf-8",
	".tsv":  "text/tab-separated-values; charset=utf-8",
	".jsx":  "text/jsx; charset=utf-8",
	".ics":  "text/calendar; charset=utf-8",
	".vcf":  "text/vcard; charset=utf-8",
	".vtt":  "text/vtt; charset=utf-8",

	".json":         "application/json",
	".map":          "application/json",
	".json5":        "application/json5",
	".jsonld":       "application/ld+json",
	".geojson":      "application/geo+json",
	".webmanifest":  "application/manifest+json",
	".xml":          "application/xml",
	".xhtml":        "application/xhtml+xml",
	".xsl":          "application/xslt+xml",
	".rss":          "application/rss+xml",
	".atom":         "application/atom+xml",
	".gpx":          "application/gpx+xml",
	".yaml":         "application/yaml",
	".yml":          "application/yaml",
	".toml":         "application/toml",
	".sql":          "application/sql",
	".sh":           "application/x-sh",
	".kml":          "application/vnd.google-earth.kml+xml",
	".kmz":          "application/vnd.google-earth.kmz",
	".wasm":         "application/wasm",
	".xpi":          "application/x-xpinstall",
	".pkpass":       "application/vnd.apple.pkpass",
	".mobileconfig": "application/x-apple-aspen-config",
	".pdf":          "application/pdf",
	".rtf":          "application/rtf",
	".epub":         "application/epub+zip",
	".zip":          "application/zip",
	".gz":           "application/gzip",
	".tar":          "application/x-tar",
	".7z":           "application/x-7z-compressed",
	".rar":          "application/vnd.rar",
	".apk":          "application/vnd.android.package-archive",
	".torrent":      "application/x-bittorrent",
	".ps":           "application/postscript",
	".eps":          "application/postscript",
	".ai":           "application/postscript",
	".doc":          "application/msword",
	".docx":         "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
	".xls":          "application/vnd.ms-excel",
	".xlsx":         "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
	".ppt":          "application/vnd.ms-powerpoint",
	".pptx":         "application/vnd.openxmlformats-officedocument.presentationml.presentation",
	".odt":          "application/vnd.oasis.opendocument.text",
	".ods":          "application/vnd.oasis.opendocument.spreadsheet",

	".svg":  "image/svg+xml",
	".svgz": "image/svg+xml",
	".png":  "image/png",
	".apng": "image/apng",
	".jpg":  "image/jpeg",
	".jpeg": "image/jpeg",
	".jpe":  "image/jpeg",
	".jxl":  "image/jxl",
	".gif":  "image/gif",
	".webp": "image/webp",
	".avif": "image/avif",
	".bmp":  "image/bmp",
	".tif":  "image/tiff",
	".tiff": "image/tiff",
	".ico":  "image/vnd.microsoft.icon",
	".heic": "image/heic",
	".psd":  "image/vnd.adobe.photoshop",

	".woff":  "font/woff",
	".woff2": "font/woff2",
	".ttf":   "font/ttf",
	".otf":   "font/otf",
	".ttc":   "font/collection",
	".eot":   "application/vnd.ms-fontobject",

	".mp3":  "audio/mpeg",
	".m4a":  "audio/mp4",
	".aac":  "audio/aac",
	".ogg":  "audio/ogg",
	".oga":  "audio/ogg",
	".opus": "audio/ogg",
	".wav":  "audio/wav",
	".flac": "audio/flac",
	".weba": "audio/webm",
	".mka":  "audio/x-matroska",
	".mid":  "audio/midi",
	".midi": "audio/midi",
	".aif":  "audio/x-aiff",
	".aiff": "audio/x-aiff",
	".mp4":  "video/mp4",
	".m4v":  "video/mp4",
	".webm": "video/webm",
	".ogv":  "video/ogg",
	".mov":  "video/quicktime",
	".mkv":  "video/x-matroska",
	".avi":  "video/x-msvideo",
	".wmv":  "video/x-ms-wmv",
	".ts":   "video/mp2t", // parts of ".m3u8"; browsers run no TypeScript
	".m3u8": "application/vnd.apple.mpegurl",
	".mpd":  "application/dash+xml",

	".glb":  "model/gltf-binary",
	".gltf": "model/gltf+json",
	".usdz": "model/vnd.usdz+zip",
	".obj":  "model/obj",
	".stl":  "model/stl",
}
