package trace

import "fmt"

// Hint is a fact about a trace that its author would want to know, with the way out.
type Hint struct {
	Code    string `json:"code"` // repeated-statement
	Message string `json:"message"`
	Fix     string `json:"fix"`
	Spans   int    `json:"spans"` // it is about so many
	// Text is the statement.
	Text string `json:"text"`
}

// repeats is how often a statement runs in one request before there is a hint.
const repeats = 10

// hints returns the facts about the spans of a request, whose own span is root. The statements of a batch count as one. A loop of
// outbound requests gives none: nothing shows whether each needs the response before it.
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
	return list
}
