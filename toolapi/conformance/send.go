package conformance

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

var sendCases = map[string]func(*run){
	// A blob is sent, looked for, and sent again.
	"U-030 U-031": func(r *run) {
		one, two := unique("one"), unique("two")
		id := r.open(site{"a": one, "b": two})
		r.want(r.put(id, one), http.StatusCreated, "")
		head := r.do(http.MethodHead, toolapi.BlobPath(id, hash(one)), r.Key, nil)
		if head.status != http.StatusOK || head.header.Get("Content-Length") != fmt.Sprint(len(one)) || len(r.status(id).required()) != 1 {
			r.Errorf("HEAD: %d %v", head.status, head.header)
		}
		r.want(r.put(id, one), http.StatusOK, "")
	},
	"U-032": func(r *run) {
		one := unique("one")
		id := r.open(site{"a": one})
		flipped := bytes.Clone(one)
		flipped[3] ^= 1
		r.want(r.putAs(id, one, flipped), http.StatusUnprocessableEntity, "digest_mismatch")
		if r.has(id, one) {
			r.Error("it was stored")
		}
	},
	// Fewer bytes than declared, and more.
	"U-033": func(r *run) {
		one := unique("one")
		id := r.open(site{"a": one})
		r.want(r.putAs(id, one, one[1:]), http.StatusUnprocessableEntity, "size_mismatch")
		r.want(r.putAs(id, one, append(bytes.Clone(one), 0)), http.StatusUnprocessableEntity, "size_mismatch")
		longer := compressGzip(append(bytes.Clone(one), 0))
		r.want(r.putAs(id, one, longer, "Content-Encoding", "gzip"), http.StatusUnprocessableEntity, "size_mismatch")
		if r.has(id, one) {
			r.Error("it was stored")
		}
	},
	"U-034": func(r *run) {
		one := bytes.Repeat(unique("one"), 40)
		id := r.open(site{"a": one})
		r.cutOff("PUT", toolapi.BlobPath(id, hash(one)), one)
		if r.has(id, one) {
			r.Error("it was stored")
		}
		r.want(r.put(id, one), http.StatusCreated, "")
	},
	// Bodies without a length, an empty one too.
	"U-035": func(r *run) {
		one := unique("one")
		id := r.open(site{"a": one})
		a := r.do(http.MethodPut, toolapi.BlobPath(id, hash(one)), r.Key, io.MultiReader(bytes.NewReader(one)))
		r.want(a, http.StatusLengthRequired, "length_required")
		empty := r.open(site{"a": {}})
		conn, reader := r.dial(http.MethodPut, toolapi.BlobPath(empty, hash(nil)), r.Key, -1)
		defer conn.Close()
		if line, err := reader.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 411 ") {
			r.Errorf("without a length and a body: %q %v", line, err)
		}
	},
	"U-036": func(r *run) {
		id := r.open(site{"a": {}, "b": []byte("{}"), "c": unique("c")})
		for _, contents := range [][]byte{{}, []byte("{}")} {
			if a := r.put(id, contents); !a.stored() || !r.has(id, contents) {
				r.Errorf("%q: %d %s", contents, a.status, a.body)
			}
		}
	},
	// Malformed hashes, and hashes that were not declared.
	"U-037 U-038": func(r *run) {
		one := unique("one")
		id, sum := r.open(site{"a": one}), hash(one)
		for _, sum := range []string{sum[1:], sum + "0", strings.ToUpper(sum), "g" + sum[1:], "%2e%2e%2f" + sum[9:], ".."} {
			a := r.do(http.MethodPut, toolapi.UploadPath(id)+"/blobs/"+sum, r.Key, bytes.NewReader(one))
			if a.status != http.StatusNotFound && (a.status != http.StatusBadRequest || a.code() != "digest_malformed") {
				r.Errorf("%s: %d %s", sum, a.status, a.body)
			}
		}
		r.want(r.put(id, unique("unlisted")), http.StatusNotFound, "blob_not_listed")
	},
	"U-039": func(r *run) {
		one := unique("one")
		id := r.open(site{"a": one})
		nobodys := r.do(http.MethodPut, toolapi.BlobPath("upl_ABCDEFGHIJKLMNOPQRSTUVWXYZ", hash(one)), r.Key, bytes.NewReader(one))
		theirs := r.do(http.MethodPut, toolapi.BlobPath(id, hash(one)), r.OtherKey, bytes.NewReader(one))
		if r.want(nobodys, http.StatusNotFound, "upload_not_found"); theirs.status != nobodys.status ||
			!bytes.Equal(theirs.body, nobodys.body) {
			r.Errorf("%d %s and %s differ", theirs.status, theirs.body, nobodys.body)
		}
	},
	// Finalized and cancelled uploads accept no blobs.
	"U-040": func(r *run) {
		s := site{"a": unique("a")}
		id := r.open(s)
		r.put(id, s["a"])
		r.finalize(id)
		r.want(r.put(id, s["a"]), http.StatusConflict, "upload_closed")
		r.want(r.do(http.MethodDelete, toolapi.UploadPath(id), r.Key, nil), http.StatusConflict, "upload_closed")
		id = r.open(site{"a": unique("a")})
		if a := r.do(http.MethodDelete, toolapi.UploadPath(id), r.Key, nil); a.status != http.StatusNoContent {
			r.Errorf("DELETE: %d", a.status)
		}
		r.want(r.do(http.MethodDelete, toolapi.UploadPath(id), r.Key, nil), http.StatusNotFound, "upload_not_found")
		r.want(r.put(id, s["a"]), http.StatusNotFound, "upload_not_found")
	},
	"U-041": func(r *run) {
		one := bytes.Repeat(unique("one"), 100)
		s := site{"a": one}
		id := r.open(s)
		r.want(r.putAs(id, one, compressGzip(one), "Content-Encoding", "gzip"), http.StatusCreated, "")
		r.want(r.finalize(id), http.StatusOK, "")
	},
	"U-042 U-043 U-044": func(r *run) {
		one := unique("one")
		id := r.open(site{"a": one, "b": unique("b")})
		bomb := compressGzip(make([]byte, 1<<20))
		started := time.Now() //nolint:forbidigo // of the real service
		r.want(r.putAs(id, one, bomb, "Content-Encoding", "gzip"), http.StatusUnprocessableEntity, "size_mismatch")
		if took := time.Since(started); took > 10*time.Second {
			r.Errorf("a bomb took %v", took)
		}
		good := compressGzip(one)
		badSum := bytes.Clone(good)
		badSum[len(badSum)-6] ^= 1
		for name, packed := range map[string][]byte{
			"truncated": good[:len(good)-3], "bad CRC": badSum, "trailing": append(bytes.Clone(good), 0),
			"two members": append(bytes.Clone(good), compressGzip(nil)...), "none": one,
		} {
			a := r.putAs(id, one, packed, "Content-Encoding", "gzip")
			if a.status != http.StatusUnprocessableEntity || a.code() != "encoding_invalid" {
				r.Errorf("%s: %d %s", name, a.status, a.body)
			}
		}
		for _, encoding := range []string{"br", "zstd", "deflate", "gzip, gzip", "x"} {
			a := r.putAs(id, one, good, "Content-Encoding", encoding)
			if r.want(a, http.StatusUnsupportedMediaType, "encoding_unsupported"); a.header.Get("Accept-Encoding") != "gzip, identity" {
				r.Errorf("%s: Accept-Encoding is %q", encoding, a.header.Get("Accept-Encoding"))
			}
		}
		if r.has(id, one) {
			r.Error("something was stored")
		}
	},
	"U-045": func(r *run) {
		id := r.open(site{"a": unique("a")})
		conn, reader := r.dial("PUT", toolapi.BlobPath(id, hash([]byte("a"))), "pgk_unknown", 20<<20, "Expect: 100-continue")
		defer conn.Close()
		if line, err := reader.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 401 ") {
			r.Errorf("%q %v", line, err)
		}
	},
	// One blob is sent a hundred times at once.
	"U-046": func(r *run) {
		one := bytes.Repeat(unique("one"), 1000)
		id := r.open(site{"a": one})
		var done sync.WaitGroup
		for range 100 {
			done.Go(func() { r.putBesideOthers(id, one) })
		}
		done.Wait()
		r.want(r.finalize(id), http.StatusOK, "")
	},
	// The right bytes of a blob and wrong ones are sent at once.
	"U-047": func(r *run) {
		for range r.times(50) {
			one := bytes.Repeat(unique("one"), 1000)
			id := r.open(site{"a": one})
			bad := bytes.Clone(one)
			bad[rand.IntN(len(bad))] ^= 1 //nolint:gosec // which byte is not a secret
			var done sync.WaitGroup
			done.Go(func() { r.want(r.putAs(id, one, bad), http.StatusUnprocessableEntity, "digest_mismatch") })
			done.Go(func() { r.putBesideOthers(id, one) })
			done.Wait()
			r.want(r.finalize(id), http.StatusOK, "")
		}
	},
	// Many blobs are sent, with the maximal concurrency.
	"U-048": func(r *run) {
		s := site{}
		for i := range r.times(2000) {
			s[fmt.Sprint(i)] = unique("x")
		}
		id := r.open(s)
		waiting := make(chan []byte)
		var workers sync.WaitGroup
		for range toolapi.MaxParallel {
			workers.Go(func() {
				for contents := range waiting {
					r.want(r.put(id, contents), http.StatusCreated, "")
				}
			})
		}
		for _, contents := range s {
			waiting <- contents
		}
		close(waiting)
		workers.Wait()
		if a := r.status(id); a.text("state") != "complete" {
			r.Errorf("%s", a.body)
		}
		r.want(r.finalize(id), http.StatusOK, "")
	},
	// Bodies that do not come time out.
	"U-049": func(r *run) {
		if r.Hurry == nil {
			return
		}
		one := bytes.Repeat(unique("one"), 1000)
		id := r.open(site{"a": one})
		r.Hurry(func() {
			for _, to := range [][2]string{
				{http.MethodPut, toolapi.BlobPath(id, hash(one))},
				{http.MethodPost, toolapi.UploadsPath},
				{http.MethodPost, toolapi.PreviewLinksPath},
			} {
				conn, reader := r.dial(to[0], to[1], r.Key, len(one))
				defer conn.Close()
				if _, err := conn.Write(one[:1]); err != nil {
					r.Fatal(err)
				}
				if line, err := reader.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 408 ") {
					r.Errorf("%s %s: %q %v", to[0], to[1], line, err)
				}
			}
		})
		if r.has(id, one) {
			r.Error("it was stored")
		}
		r.want(r.put(id, one), http.StatusCreated, "")
	},
	// Some of the blobs are sent: the status names the others.
	"U-052": func(r *run) {
		s := site{}
		for i := range 20 {
			s[fmt.Sprint(i)] = unique("x")
		}
		id := r.open(s)
		var left []string
		for i, contents := range s {
			if len(i)%2 == 0 {
				r.put(id, contents)
				continue
			}
			left = append(left, hash(contents))
		}
		slices.Sort(left)
		if got := r.status(id).required(); !slices.Equal(got, left) {
			r.Errorf("required %v, want %v", got, left)
		}
	},
	// The client cancels an upload while it sends one of its blobs.
	"U-053": func(r *run) {
		s := site{"a": bytes.Repeat(unique("a"), 1000)}
		one := s["a"]
		id := r.open(s)
		conn, reader := r.dial("PUT", toolapi.BlobPath(id, hash(one)), r.Key, len(one))
		defer conn.Close()
		if _, err := conn.Write(one[:len(one)/2]); err != nil {
			r.Fatal(err)
		}
		if a := r.do(http.MethodDelete, toolapi.UploadPath(id), r.Key, nil); a.status != http.StatusNoContent {
			r.Errorf("DELETE: %d %s", a.status, a.body)
		}
		_, _ = conn.Write(one[len(one)/2:]) // the service may have responded already
		if line, err := reader.ReadString('\n'); err != nil || !strings.HasPrefix(line, "HTTP/1.1 4") {
			r.Errorf("%q %v", line, err)
		}
		if required := r.status(r.open(s)).required(); len(required) != 1 {
			r.Error("something is left of it")
		}
	},
	// Uploads expire without use.
	"U-054": func(r *run) {
		if r.Pass == nil {
			return
		}
		one := unique("one")
		id := r.open(site{"a": one})
		r.Pass(24*time.Hour - time.Second)
		r.want(r.status(id), http.StatusOK, "") // which is a use of it
		r.Pass(24 * time.Hour)
		r.want(r.status(id), http.StatusGone, "upload_expired")
		r.want(r.put(id, one), http.StatusGone, "upload_expired")

		id = r.open(site{"a": unique("one")})
		r.Pass(23 * time.Hour)
		r.want(r.status(id), http.StatusOK, "")
		r.Pass(7 * time.Hour)
		r.want(r.status(id), http.StatusOK, "")
		r.Pass(8 * 24 * time.Hour)
		r.want(r.status(id), http.StatusNotFound, "upload_not_found")
	},
}

// putBesideOthers sends a blob that others may send at the same time.
func (r *run) putBesideOthers(id string, blob []byte) {
	if a := r.put(id, blob); !a.stored() {
		r.Errorf("%d %s", a.status, a.body)
	}
}

// putAs sends bytes to the address of others.
func (r *run) putAs(id string, contents, sent []byte, header ...string) response {
	r.Helper()
	return r.do(http.MethodPut, toolapi.BlobPath(id, hash(contents)), r.Key, bytes.NewReader(sent), header...)
}

// dial begins a request on a connection of its own, which the caller closes. A length below zero is not sent.
func (r *run) dial(method, path, key string, length int, more ...string) (net.Conn, *bufio.Reader) {
	r.Helper()
	u, err := url.Parse(r.URL)
	if err != nil {
		r.Fatal(err)
	}
	conn, err := (&net.Dialer{}).DialContext(r.Context(), "tcp", u.Host)
	if err != nil {
		r.Fatal(err)
	}
	head := append([]string{method + " " + path + " HTTP/1.1", "Host: " + u.Host, "Authorization: Bearer " + key}, more...)
	if length >= 0 {
		head = append(head, fmt.Sprint("Content-Length: ", length))
	}
	if _, err := io.WriteString(conn, strings.Join(head, "\r\n")+"\r\n\r\n"); err != nil {
		r.Fatal(err)
	}
	return conn, bufio.NewReader(conn)
}

// cutOff announces contents and closes the connection in the middle.
func (r *run) cutOff(method, path string, contents []byte, more ...string) {
	r.Helper()
	conn, _ := r.dial(method, path, r.Key, len(contents), more...)
	if _, err := conn.Write(contents[:len(contents)/2]); err != nil {
		r.Fatal(err)
	}
	if err := conn.Close(); err != nil {
		r.Fatal(err)
	}
}

// times returns the number of repetitions of a loop, given the number in the list of tests.
func (r *run) times(listed int) int {
	if r.Long {
		return listed
	}
	return max(1, listed/10)
}
