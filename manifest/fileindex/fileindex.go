// Package fileindex finds the file for a path of a site, like Cloudflare's static assets with the default html_handling
// ("auto-trailing-slash"). The front door and the redirect checks of `pages validate` use it.
//
// Input: decoded paths. Output: entries of the index. No function returns an error. An index is safe for concurrent use while
// nothing is added. The package opens no file, and knows neither rules nor routes.
package fileindex

import "strings"

// Index has the files of a site by their decoded path: "/docs/index.html".
type Index[F any] map[string]F

// Of makes an index of paths without a leading slash.
func Of(paths []string) Index[string] {
	x := make(Index[string], len(paths))
	for _, path := range paths {
		x["/"+path] = path
	}
	return x
}

// Resolve finds the file at a canonical path. A redirect is the decoded path to which visitors of an alias are sent; "" when the
// path itself serves the file.
func (x Index[F]) Resolve(path string) (file F, redirect string, ok bool) {
	if file, redirect, ok = x.Own(path); !ok {
		file, redirect, ok = x.Alias(path)
	}
	return file, redirect, ok
}

// Own is Resolve for the names that a file has: "/about", "/about.html" and "/about/".
func (x Index[F]) Own(path string) (file F, redirect string, ok bool) {
	if dir, folder := strings.CutSuffix(path, "/"); folder {
		return x.resolveFolder(path, dir)
	}
	if f, ok := x[path]; ok {
		return f, x.Preferred(path), true
	}
	if f, ok := x[path+".html"]; ok {
		redirect := x.Preferred(path + ".html")
		if redirect == path {
			redirect = ""
		}
		return f, redirect, true
	}
	if f, ok := x[path+"/index.html"]; ok {
		return f, path + "/", true
	}
	return file, "", false
}

func (x Index[F]) resolveFolder(path, dir string) (file F, redirect string, ok bool) {
	if f, ok := x[path+"index.html"]; ok {
		return f, "", true
	}
	if _, taken := x[dir]; dir != "" && !taken {
		if f, ok := x[dir+".html"]; ok {
			return f, x.orPreferred(dir), true
		}
	}
	return file, "", false
}

// orPreferred returns the redirect for visitors of a page "dir.html".
func (x Index[F]) orPreferred(dir string) string {
	if preferred := x.Preferred(dir + ".html"); preferred != "" {
		return preferred
	}
	return dir
}

// Alias is Resolve for the names that a page never had: "/docs/index" or "/docs/index.html" for docs.html, "/docs.html" for
// docs/index.html.
func (x Index[F]) Alias(path string) (file F, redirect string, ok bool) {
	short, html := strings.CutSuffix(path, ".html")
	if dir, index := strings.CutSuffix(short, "/index"); index && dir != "" {
		if _, taken := x[dir]; taken {
			return file, "", false
		}
		f, ok := x[dir+".html"]
		if !ok {
			return file, "", false
		}
		return f, x.orPreferred(dir), true
	}
	if html && !strings.HasSuffix(short, "/") {
		if f, ok := x[short+"/index.html"]; ok {
			return f, short + "/", true
		}
	}
	return file, "", false
}

// Candidates lists the files that Resolve looks for, in its order.
func (x Index[F]) Candidates(path string) []string {
	if dir, folder := strings.CutSuffix(path, "/"); folder {
		if _, taken := x[dir]; dir == "" || taken {
			return []string{path + "index.html"}
		}
		return []string{path + "index.html", dir + ".html"}
	}
	return []string{path, path + ".html", path + "/index.html"}
}

// Preferred returns the path to redirect to for a page: "/dir/" for "/dir/index.html", "/about" for "/about.html", "" for a file
// that keeps its name.
func (x Index[F]) Preferred(path string) string {
	short, ok := strings.CutSuffix(path, ".html")
	if !ok || strings.HasSuffix(short, "/") {
		return ""
	}
	if dir, ok := strings.CutSuffix(short, "/index"); ok {
		return dir + "/"
	}
	if _, taken := x[short]; taken {
		return ""
	}
	return short
}
