package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// clientPackages are packages that talk to a server, and the output of their
// documentation's examples. Node 22 gives the same.
var clientPackages = map[string]string{
	"aiSdk": `{"words":["Hel","lo ","⛵","!"],"finish":"stop","usage":5,"steps":2,"text":"Hello ⛵!","results":["sunny in Kiel"],` +
		`"typed":{"name":"heron","seats":8},"events":["start","start-step","text-start","text-delta","text-end","finish-step","finish"]}`,
	"ky": `{"posted":{"authorization":"","body":"{\"foo\":true}","query":"q=a+b","rainbow":"unicorn",` +
		`"type":"application/json"},"flaky":"fine","seen":["200","503","retry 1","200","404","200","200"],` +
		`"errors":["HTTPError 404 Request failed with status code 404 Not Found: GET /missing","TimeoutError"],` +
		`"form":"fries a.txt text/plain chips","bytes":300000,"progress":300000}`,
	"openai": `{"answer":"Hello ⛵!","tokens":5,"parts":["Hel","lo ","⛵","!",""],` +
		`"refused":"NotFoundError 404 model_not_found 404 The model does not exist"}`,
	"openapiFetch": `{"data":{"id":"a b","name":"fields=id&fields=name"},"error":{"message":"no such boat"},"status":404,` +
		`"made":{"authorization":"Bearer t","body":"{\"name\":\"wren\"}","query":"","rainbow":"","type":"application/json"},` +
		`"seen":["/boats/{id} 200","/boats/{id} 404","/echo 200"]}`,
	"redis": `{"set":"OK","got":{"n":1,"text":"ü"},"list":["a",2],"pipeline":["OK",{"n":1,"text":"ü"}],` +
		`"refused":"Command failed: WRONGTYPE Operation against a key holding the wrong kind of value"}`,
	"stripe": `{"customer":{"authorization":"Bearer sk_test_123","club":"river & sea","email":"jane@example.com","id":"cus_1",` +
		`"key":"k1","locales":"deen","object":"customer","type":"application/x-www-form-urlencoded"},"names":["cus_1","cus_2","cus_3"],` +
		`"declined":"StripeCardError card_declined Your card was declined.","event":"customer.created",` +
		`"forged":"StripeSignatureVerificationError"}`,
}

// TestClientPackages runs them in a real Worker, which may fetch from a test server that answers as the services' documentation describes.
func TestClientPackages(t *testing.T) {
	peer := httptest.NewServer(newServices())
	defer peer.Close()
	d := startDev(t, filepath.Join(copyExample(t, "packages"), "clients"), "--allow-fetch", strings.TrimPrefix(peer.URL, "http://"))
	d.expectTopics(clientPackages, "?at="+url.QueryEscape(peer.URL))
}

// newServices answers like the services for which the clients are made.
func newServices() http.Handler {
	mux := http.NewServeMux()
	var attempts atomic.Int64
	mux.HandleFunc("GET /flaky", func(w http.ResponseWriter, _ *http.Request) {
		if attempts.Add(1)%2 == 1 {
			http.Error(w, "not yet", http.StatusServiceUnavailable)
			return
		}
		_, _ = io.WriteString(w, "fine")
	})
	mux.HandleFunc("GET /slow", func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() })
	mux.HandleFunc("GET /large", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 300_000)) })
	mux.HandleFunc("POST /echo", echo)
	mux.HandleFunc("POST /form", func(w http.ResponseWriter, r *http.Request) {
		file, head, err := r.FormFile("file")
		if err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		text, _ := io.ReadAll(file)
		fmt.Fprintf(w, "%s %s %s %s", r.FormValue("food"), head.Filename, head.Header.Get("Content-Type"), text)
	})
	mux.HandleFunc("GET /boats/{id}", func(w http.ResponseWriter, r *http.Request) {
		if r.PathValue("id") == "404" {
			answerJSON(w, http.StatusNotFound, map[string]any{"message": "no such boat"})
			return
		}
		answerJSON(w, http.StatusOK, map[string]any{"id": r.PathValue("id"), "name": r.URL.RawQuery})
	})
	mux.HandleFunc("POST /redis", redisCommand)
	mux.HandleFunc("POST /redis/pipeline", redisPipeline)
	mux.HandleFunc("POST /v1/customers", newCustomer)
	mux.HandleFunc("GET /v1/customers", customers)
	mux.HandleFunc("POST /v1/payment_intents", func(w http.ResponseWriter, _ *http.Request) {
		answerJSON(w, http.StatusPaymentRequired, map[string]any{
			"error": map[string]any{"type": "card_error", "code": "card_declined", "message": "Your card was declined."},
		})
	})
	mux.HandleFunc("POST /v1/chat/completions", completions)
	return mux
}

func answerJSON(w http.ResponseWriter, status int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(v)
}

// echo returns the parts of a request that the clients set.
func echo(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	answerJSON(w, http.StatusOK, map[string]any{
		"body": string(body), "query": r.URL.RawQuery, "type": r.Header.Get("Content-Type"),
		"authorization": r.Header.Get("Authorization"), "rainbow": r.Header.Get("X-Rainbow"),
	})
}

// redisAnswer is the response to one command, in Upstash's REST protocol: strings in Base64 if the client asks for it.
func redisAnswer(r *http.Request, command []any) map[string]any {
	encode := func(text string) string {
		if r.Header.Get("Upstash-Encoding") == "base64" {
			return base64.StdEncoding.EncodeToString([]byte(text))
		}
		return text
	}
	name, _ := command[0].(string)
	switch strings.ToLower(name) {
	case "set":
		return map[string]any{"result": "OK"}
	case "get":
		return map[string]any{"result": encode(`{"n":1,"text":"ü"}`)}
	case "lrange":
		return map[string]any{"result": []string{encode("a"), encode("2")}}
	}
	return map[string]any{"error": "WRONGTYPE Operation against a key holding the wrong kind of value"}
}

func redisCommand(w http.ResponseWriter, r *http.Request) {
	var command []any
	if err := json.NewDecoder(r.Body).Decode(&command); err != nil || len(command) == 0 ||
		r.Header.Get("Authorization") != "Bearer secret" {
		answerJSON(w, http.StatusUnauthorized, map[string]any{"error": "unauthorized"})
		return
	}
	answer := redisAnswer(r, command)
	status := http.StatusOK
	if answer["error"] != nil {
		status = http.StatusBadRequest
	}
	answerJSON(w, status, answer)
}

func redisPipeline(w http.ResponseWriter, r *http.Request) {
	var commands [][]any
	if err := json.NewDecoder(r.Body).Decode(&commands); err != nil {
		answerJSON(w, http.StatusBadRequest, map[string]any{"error": err.Error()})
		return
	}
	answers := make([]map[string]any, len(commands))
	for i, command := range commands {
		answers[i] = redisAnswer(r, command)
	}
	answerJSON(w, http.StatusOK, answers)
}

// newCustomer answers with the fields of the request.
func newCustomer(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	answerJSON(w, http.StatusOK, map[string]any{
		"id": "cus_1", "object": "customer", "email": r.PostFormValue("email"), "club": r.PostFormValue("metadata[club]"),
		"locales": r.PostFormValue("preferred_locales[0]") + r.PostFormValue("preferred_locales[1]"),
		"key":     r.Header.Get("Idempotency-Key"), "authorization": r.Header.Get("Authorization"), "type": r.Header.Get("Content-Type"),
	})
}

// customers are three customers, two on a page.
func customers(w http.ResponseWriter, r *http.Request) {
	page := map[string]any{
		"object": "list", "url": "/v1/customers", "has_more": true,
		"data": []map[string]any{{"id": "cus_1"}, {"id": "cus_2"}},
	}
	if r.URL.Query().Get("starting_after") == "cus_2" {
		page["has_more"], page["data"] = false, []map[string]any{{"id": "cus_3"}}
	}
	answerJSON(w, http.StatusOK, page)
}

// completions answers like a language model: with "Hello ⛵!", in parts if the request asks for a stream; with a call of the first tool; or
// with JSON.
func completions(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		Model    string
		Stream   bool
		Messages []struct{ Role string }
		Tools    []struct{ Function struct{ Name string } }
		Format   struct{ Type string } `json:"response_format"`
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.Model != "gpt-test" {
		answerJSON(w, http.StatusNotFound, map[string]any{
			"error": map[string]any{
				"message": "The model does not exist", "type": "invalid_request_error", "code": "model_not_found",
				"param": nil,
			},
		})
		return
	}
	usage := map[string]any{"prompt_tokens": 2, "completion_tokens": 3, "total_tokens": 5}
	if asked.Stream {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, part := range []string{"Hel", "lo ", "⛵", "!"} {
			chunk, _ := json.Marshal(map[string]any{
				"id": "c", "object": "chat.completion.chunk", "created": 0, "model": asked.Model,
				"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": part}}},
			})
			// A character of several bytes arrives in two pieces.
			half := len(chunk) / 2
			if i := strings.Index(string(chunk), "⛵"); i >= 0 {
				half = i + 1
			}
			fmt.Fprintf(w, "data: %s", chunk[:half])
			_ = http.NewResponseController(w).Flush()
			fmt.Fprintf(w, "%s\n\n", chunk[half:])
		}
		end, _ := json.Marshal(map[string]any{
			"id": "c", "object": "chat.completion.chunk", "created": 0, "model": asked.Model,
			"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": "stop"}},
			"usage":   usage,
		})
		fmt.Fprintf(w, "data: %s\n\ndata: [DONE]\n\n", end)
		return
	}
	message, reason := map[string]any{"role": "assistant", "content": "Hello ⛵!"}, "stop"
	switch {
	case len(asked.Tools) > 0 && asked.Messages[len(asked.Messages)-1].Role != "tool":
		message, reason = map[string]any{
			"role": "assistant", "content": nil,
			"tool_calls": []any{map[string]any{
				"id": "call_1", "type": "function",
				"function": map[string]any{"name": asked.Tools[0].Function.Name, "arguments": `{"place":"Kiel"}`},
			}},
		}, "tool_calls"
	case asked.Format.Type == "json_schema":
		message["content"] = `{"name":"heron","seats":8}`
	}
	answerJSON(w, http.StatusOK, map[string]any{
		"id": "c", "object": "chat.completion", "created": 0, "model": asked.Model, "usage": usage,
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": reason}},
	})
}
