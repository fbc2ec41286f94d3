package main

import (
	"path/filepath"
	"testing"
)

// storePackages are packages that store data in keys, in storage and in the cache, and the output that their documentation promises.
var storePackages = map[string]string{
	"assets": `{"home":[200,"text/html; charset=utf-8","max-age=60","\"index.1a.html\"","MISS",13],"docs":[200,` +
		`"text/html; charset=utf-8","max-age=60","\"docs.2b.html\"","MISS",13],"logo":[200,"image/png","max-age=60","\"logo.3c.png\"",` +
		`"MISS",4],"again":[200,"image/png","max-age=60","\"logo.3c.png\"","HIT",4],"same":[304,"image/png","max-age=60",` +
		`"W/\"logo.3c.png\"","REVALIDATED",0],"head":[200,"image/png","max-age=60",null,null,4],"app":[200,"text/html; charset=utf-8",` +
		`"max-age=60","\"index.1a.html\"","HIT",13],"lost":[true,false,404],"posted":[false,true,405]}`,
	"cached": `{"first":["max-age=3600","{\"id\":\"…\",\"run\":1,\"text\":\"first\"}"],"again":["max-age=3600","{\"id\":\"…\",` +
		`\"run\":1,\"text\":\"first\"}"],"other":["max-age=3600","{\"id\":\"…\",\"run\":2,\"text\":\"second\"}"],"never":[[null,"3"],` +
		`[null,"4"]]}`,
	"resumable": `{"seen":["POST 201","PATCH 204","HEAD 200","PATCH 204"],"progress":[5244114],"size":5244114,"parts":"2","same":true}`,
}

// TestStorePackages runs them in a real Worker, built by the real bundler.
func TestStorePackages(t *testing.T) {
	startDev(t, filepath.Join(copyExample(t, "packages"), "stores")).expectTopics(storePackages, "")
}
