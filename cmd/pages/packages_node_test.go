package main

import (
	"path/filepath"
	"testing"
)

// nodePackages are packages written for Node.js, and the output of their documentation's
// examples in a Worker with the flag nodejs_compat.
var nodePackages = map[string]string{
	"bcrypt":    `{"right":true,"wrong":false,"known":true}`,
	"context":   `{"answers":["Hello, a","Hello, b"]}`,
	"csv":       `{"rows":[{"key_1":"value 1","key_2":"value 2"}]}`,
	"debugging": `{"lines":1,"has":true,"enabled":true}`,
	"env":       `{"BASIC":"basic","QUOTED":"two\nlines"}`,
	"frontMatter": `{"data":{"title":"Hello","tags":["a","b"]},"content":"<h1>Hello world!</h1>\n<!-- more -->\nrest",` +
		`"excerpt":"<h1>Hello world!</h1>\n","text":"---\ntitle: x\n---\nbody\n"}`,
	"iconv": `{"bytes":"cff0e8ece5f02c2088","text":"Пример, €","japanese":"こん","known":true}`,
	"jwt": `{"token":"eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9.eyJmb28iOiJiYXIiLCJpYXQiOjE3MDAwMDAwMDB9.BUyVV1W17D2RjwutlvQYZHP2j43` +
		`levQvE783vlwxjXk","verified":"bar","rsa":"rsa","ec":"ec","called":"later","refused":"JsonWebTokenError: invalid signature"}`,
	"logging": `{"lines":[{"level":"info","message":"Hello %s","service":"user-service"},{"level":"error","message":"bad",` +
		`"requestId":"451","service":"user-service"}]}`,
	"lru":      `{"keys":["c","a"],"b":null}`,
	"mail":     `{"subject":"=?UTF-8?Q?Gr=C3=BC=C3=9Fe?=","multipart":true,"attachment":true}`,
	"nano":     `{"length":21,"short":5}`,
	"postgres": `{"bytes":"510000000d53454c454354203100","seen":"readyForQuery,42P01 no table"}`,
	"query":    `{"parsed":{"foo":{"bar":"baz"},"a":["b","c"]},"text":"a%5Bb%5D%5B0%5D=x&a%5Bb%5D%5B1%5D=y%20z"}`,
	"safe":     `{"text":"hi","zeros":[0,0],"own":true}`,
	"streams":  `{"out":"A B <x>"}`,
	"uuid":     `{"v4":true,"v1":true,"v5":"fdda765f-fc57-5604-a269-52a7df8164ec"}`,
}

// TestNodePackages runs them in a real Worker, built by the real bundler.
func TestNodePackages(t *testing.T) {
	startDev(t, filepath.Join(copyExample(t, "packages"), "node")).expectTopics(nodePackages, "")
}
