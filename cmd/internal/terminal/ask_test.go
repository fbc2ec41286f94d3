package terminal

import (
	"bytes"
	"errors"
	"strings"
	"testing"
)

// oneLine gives a line at a time, as a terminal does.
type oneLine struct{ rest []string }

func (o *oneLine) Read(p []byte) (int, error) {
	if len(o.rest) == 0 {
		return 0, errors.New("gone")
	}
	n := copy(p, o.rest[0]+"\n")
	o.rest = o.rest[1:]
	return n, nil
}

// TestChoose: a number, a word, the beginning of only one word, or an empty answer for the default.
func TestChoose(t *testing.T) {
	list := []string{"static   pages alone", "members  and pages", "worker   code", "Westend"}
	for _, c := range []struct {
		answers string
		usual   int
		want    int
		failed  bool
	}{
		{"1", NoDefault, 0, false},
		{"4", NoDefault, 3, false},
		{"worker", NoDefault, 2, false},
		{"M", NoDefault, 1, false},
		{"we", NoDefault, 3, false},
		{"w|0|5|-1|w x|worker", NoDefault, 2, false},
		{"\x1b[B|2", NoDefault, 1, false},
		{"", 1, 1, false},
		{"", NoDefault, 0, true},
		{"none", NoDefault, 0, true},
	} {
		t.Run(c.answers, func(t *testing.T) {
			var said bytes.Buffer
			k := &Terminal{Stdin: &oneLine{strings.Split(c.answers, "|")}, Stderr: &said}
			got, err := k.Choose(t.Context(), "Which?", list, c.usual)
			if got != c.want || errors.Is(err, errNoAnswer) != c.failed {
				t.Errorf("%q: %d, %v\n%s", c.answers, got, err, &said)
			}
			refused := strings.Count(said.String(), "is not one of them: type a number from 1 to 4")
			if refused != strings.Count(c.answers, "|") && !c.failed {
				t.Errorf("%q: %d answers were refused\n%s", c.answers, refused, &said)
			}
			if strings.Contains(said.String(), "x1b") {
				t.Errorf("%q: %s", c.answers, &said)
			}
		})
	}
}

// TestBack: "back" leads to the question before, if there is one.
func TestBack(t *testing.T) {
	ask := func(answers ...string) (*Terminal, *bytes.Buffer) {
		said := &bytes.Buffer{}
		return &Terminal{Stdin: &oneLine{answers}, Stderr: said}, said
	}
	list := []string{"static", "backend"}
	k, said := ask("Back")
	if _, err := k.ChooseOrBack(t.Context(), "Which?", list, 0); !errors.Is(err, ErrBack) ||
		!strings.HasSuffix(said.String(), "1-2 [1], or back: ") {
		t.Errorf("%v %q", err, said)
	}
	k, _ = ask("backe")
	if got, err := k.ChooseOrBack(t.Context(), "Which?", list, 0); got != 1 || err != nil {
		t.Errorf("%d, %v", got, err)
	}
	k, said = ask("back")
	if got, err := k.Choose(t.Context(), "Which?", list, 0); got != 1 || err != nil || strings.Contains(said.String(), "or back") {
		t.Errorf("the first question: %d, %v, %q", got, err, said)
	}
	for answer, want := range map[string]string{"": "boats", "My Oars": "My Oars", "back": ""} {
		k, said = ask(answer)
		got, err := k.AskOrBack(t.Context(), "Name of the site", "boats")
		if (err != nil) != (want == "") || err == nil && got != want || said.String() != "Name of the site [boats], or back: " {
			t.Errorf("%q: %q, %v, %q", answer, got, err, said)
		}
	}
}

// TestAgree: only yes is yes.
func TestAgree(t *testing.T) {
	for answer, want := range map[string]bool{"y": true, "YES": true, "": false, "n": false, "yeah": false} {
		t.Run(answer, func(t *testing.T) {
			k := &Terminal{Stdin: &oneLine{[]string{answer}}, Stderr: &bytes.Buffer{}}
			if got, err := k.Agree(t.Context(), "Go ahead?"); got != want || err != nil {
				t.Errorf("%q: %v, %v", answer, got, err)
			}
		})
	}
}
