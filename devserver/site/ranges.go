package site

import (
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"
)

// This file reads the Range header (RFC 9110, section 14.2) for http.ServeContent, which takes other units for
// malformed, an empty suffix for a part, and large numbers for none.

// serveContent sends what is in the contents, or what the conditions of the request make of it.
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

// rangesOf is a Range header in the form that http.ServeContent reads right; "" for one that is to be ignored.
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

// unsatisfiableRange is the Range header of which no file of this size has a part: it is answered 416.
func unsatisfiableRange(size int64) string { return "bytes=" + strconv.FormatInt(size, 10) + "-" }

// clipRange is one range with numbers up to the size; "" is the last none of the bytes, and not ok what is malformed.
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

// parsePosition is a number of a range, at most limit.
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
