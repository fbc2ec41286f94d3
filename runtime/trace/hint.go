package trace

import "fmt"

// Hint is a fact about a trace that its author would want to know, with the way out.
type Hint struct {
	Code    string `json:"code"` // repeated-statement, fetches-in-turn
	Message string `json:"message"`
	Fix     string `json:"fix"`
	Spans   int    `json:"spans"` // it is about so many
	// Text is the statement, or the host.
	Text string `json:"text"`
}

// repeats is how often a statement runs in one request before there is a hint.
const repeats = 10

// turns is how many outbound requests run one after another to one host before there is a hint.
const turns = 5

// hints returns the facts about the spans of a request, whose own span is root. The statements of a batch count as one.
func hints(root SpanID, spans []Span) (list []Hint) {
	count := map[string]int{}
	var order []string
	for _, s := range spans {
		text := s.Attributes.Text(QueryText)
		if text == "" || s.Parent != root {
			continue
		}
		if count[text]++; count[text] == repeats {
			order = append(order, text)
		}
	}
	for _, text := range order {
		list = append(list, Hint{
			Code: "repeated-statement", Spans: count[text], Text: text,
			Message: fmt.Sprintf("the same statement ran %d times in this request", count[text]),
			Fix:     "Read or write all rows with one statement (a JOIN, or IN with a list), or send the statements as one batch.",
		})
	}
	return append(list, inTurn(root, spans)...)
}

// inTurn finds the longest run of outbound requests to each host, of which each began after the end of the one before. A redirect is no
// request of its own.
func inTurn(root SpanID, spans []Span) (list []Hint) {
	type run struct {
		host    string
		count   int
		fetches float64 // ms
		end     float64 // of the last one, after the start of the request
	}
	var now run
	longest := map[string]run{}
	var hosts []string
	for _, s := range spans {
		host := s.Attributes.Text(ServerAddress)
		if _, redirected := s.Attributes.Int(ResendCount); redirected {
			now.end, now.fetches = max(now.end, s.StartMs+s.Millis), now.fetches+s.Millis
			continue
		}
		if s.Parent != root || s.Name != "fetch" || host == "" {
			continue
		}
		if host != now.host || s.StartMs < now.end || s.Unfinished {
			now = run{host: host}
		}
		now.count, now.fetches, now.end = now.count+1, now.fetches+s.Millis, s.StartMs+s.Millis
		if now.count == turns && longest[host].count == 0 {
			hosts = append(hosts, host)
		}
		if now.count >= turns && now.count > longest[host].count {
			longest[host] = now
		}
	}
	for _, host := range hosts {
		r := longest[host]
		list = append(list, Hint{
			Code: "fetches-in-turn", Spans: r.count, Text: host,
			Message: fmt.Sprintf("%d fetches of one host ran one after another and took %.0f ms", r.count, r.fetches),
			Fix:     "If none needs the response before it, start them together: await Promise.all(list.map((url) => fetch(url))).",
		})
	}
	return list
}
