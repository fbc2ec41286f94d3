package site

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// This file reads the Range header (RFC 9110, section 14.2) for http.ServeContent, which refuses other units, answers an
// empty suffix with a part, and refuses large numbers.

// serveContent sends contents, or what the request's conditions select of them.
func (x *exchange) serveContent(modified time.Time, contents io.ReadSeeker, size int64) {
	if sent := x.r.Header["Range"]; sent != nil {
		r := *x.r // the header of the request is also the log's and the Worker's
		r.Header = x.r.Header.Clone()
		delete(r.Header, "Range")
		if ranges := rangesOf(sent, size); ranges != "" {
			r.Header["Range"] = []string{ranges}
		}
		http.ServeContent(&x.out, &r, "", modified, contents)
		return
	}
	http.ServeContent(&x.out, x.r, "", modified, contents)
}

// rangesOf returns a Range header in a form that http.ServeContent reads right; "" for one to ignore.
func rangesOf(sent []string, size int64) string {
	unit, list, _ := strings.Cut(sent[0], "=")
	if len(sent) > 1 || !strings.EqualFold(unit, "bytes") || strings.Trim(list, ", \t") == "" {
		return ""
	}
	kept := make([]string, 0, 1)
	for spec := range strings.SplitSeq(list, ",") {
		spec = strings.Trim(spec, " \t")
		if spec == "" {
			continue
		}
		span, ok := clipRange(spec, size)
		if !ok {
			return unsatisfiableRange(size)
		}
		if span != "" {
			kept = append(kept, span)
		}
	}
	if len(kept) == 0 {
		return unsatisfiableRange(size)
	}
	return "bytes=" + strings.Join(kept, ",")
}

// unsatisfiableRange returns a Range header that a file of this size answers with 416.
func unsatisfiableRange(size int64) string { return "bytes=" + strconv.FormatInt(size, 10) + "-" }

// clipRange returns one range with its numbers clipped to the size; "" for the last 0 bytes. It is not ok for a
// malformed range.
func clipRange(spec string, size int64) (kept string, ok bool) {
	from, to, dashed := strings.Cut(spec, "-")
	first, firstOK := parsePosition(from, size)
	last, lastOK := parsePosition(to, size)
	switch {
	case !dashed, from == "" && to == "", from != "" && !firstOK, to != "" && !lastOK:
		return "", false
	case from == "" && last == 0:
		return "", true
	case from == "":
		return "-" + strconv.FormatInt(last, 10), true
	case to == "":
		return strconv.FormatInt(first, 10) + "-", true
	}
	return strconv.FormatInt(first, 10) + "-" + strconv.FormatInt(last, 10), true
}

// parsePosition reads a number of a range, at most limit.
func parsePosition(digits string, limit int64) (int64, bool) {
	if digits == "" || strings.Trim(digits, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || n > limit {
		return limit, true
	}
	return n, true
}
