package site

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"net/url"

	"github.com/pages-toolchain/pages/runtime/trace"
)

// serveForms takes form posts, and shows the page that confirms them.
func (x *exchange) serveForms(name string) {
	switch {
	case name == "thanks" && (x.r.Method == http.MethodGet || x.r.Method == http.MethodHead):
		x.out.Header().Set("Cross-Origin-Resource-Policy", "cross-origin") // also after a script's post, which redirects here
		x.writePage(http.StatusOK, "notice", notice{
			Title: "Thank you", Text: "Your message has arrived.", Link: "/", LinkText: "Back to the site", Style: x.site.pages.style,
		})
	case isPreflight(x.r) && !x.serving.revision.StandIn:
		x.answerPreflight()
	case name == stampScript && (x.r.Method == http.MethodGet || x.r.Method == http.MethodHead):
		x.serveStamp()
	case name == challengeFile && (x.r.Method == http.MethodGet || x.r.Method == http.MethodHead):
		x.allowScript() // a script that may send the form reads its challenge
		x.writeJSON(http.StatusOK, x.site.challenges.Make(x.site.options.Now()))
	case x.r.Method != http.MethodPost:
		x.refuseMethod("POST")
	case x.serving.revision.StandIn:
		x.callWorker()
	case !x.admitScript():
	default:
		x.source = FromForm
		x.takePost(name)
	}
}

// takePost stores a post and copies it into the site's own table before it responds.
func (x *exchange) takePost(name string) {
	form, err := readForm(x.out.ResponseWriter, x.r, x.site.options.Files)
	defer func() { // after a commit it has no effect
		for _, u := range form.uploads {
			u.to.Abort()
		}
	}()
	if errors.Is(err, errFileNotStored) {
		x.databaseFailed("file not stored", err)
		return
	}
	if err != nil {
		x.refuseError(err)
		return
	}
	p, err := x.post(form, name)
	if err != nil {
		x.refuseError(err)
		return
	}
	// The client may disconnect now: the site stores the post nevertheless.
	lead, err := x.site.storePost(trace.With(context.WithoutCancel(x.r.Context()), &x.trace), p)
	switch {
	case errors.Is(err, errTokenReused):
		x.refuse(refuse(http.StatusConflict, "form_token_reused", "this form was already sent, with other answers").
			fix("reload the page and send it again"))
	case errors.Is(err, errLeadsFull):
		x.failure = err.Error()
		x.site.options.Logger.Error("lead not stored", "error", err)
		x.refuse(refuse(
			http.StatusInsufficientStorage, "leads_full", "this site has no room for more forms: what you sent was not stored",
		))
	case err != nil:
		x.databaseFailed("lead not stored", err)
	case wantsJSON(x.r), x.script: // it could not follow to a page of this origin
		x.writeJSON(http.StatusCreated, leadDocument{OK: true, Lead: x.shownLead(lead, p)})
	default:
		target, ok := x.nextPage(form.control[fieldNext])
		if !ok {
			target = reservedPrefix + "/forms/thanks?form=" + url.QueryEscape(lead.Form)
		}
		x.seeOther(target)
	}
}

type leadDocument struct {
	OK   bool `json:"ok"`
	Lead Lead `json:"lead"`
}

// post makes a lead from a form: its name, its events, its table.
func (x *exchange) post(f *formReader, name string) (post, error) {
	given, named := f.control[fieldForm]
	switch {
	case name == "" && !named:
		name = defaultForm
	case name == "":
		name = given
	case named && given != name:
		return post{}, errFormAmbiguous
	}
	if !validFormName(name) {
		return post{}, refuse(http.StatusUnprocessableEntity, "form_name_invalid",
			"a form's name is 1 to 64 lower-case letters, digits, \"-\" and \"_\"")
	}
	token := f.control[fieldToken]
	if header := x.r.Header.Get("Idempotency-Key"); header != "" {
		token = header
	}
	if len(token) > maxTokenBytes {
		return post{}, refuse(http.StatusUnprocessableEntity, "form_token_invalid", "the idempotency key is longer than 200 bytes")
	}
	m := x.serving.manifest
	p := post{
		form: name, fields: f.fields(), uploads: f.uploads, token: token, preview: x.site.options.Preview,
		events: []string{}, deliver: x.site.dispatcher != nil,
	}
	if x.site.options.SubmissionsDB != nil && !p.preview {
		p.table = m.Bindings.Submissions
	}
	if p.table != "" {
		p.unasked, p.unseen = x.serving.unasked(name, p.fields, x.site.options.Logger)
		x.noteUnasked(p)
	}
	if !p.preview {
		p.events = append(p.events, EventLeadCaptured)
		if declared, ok := m.Form(name); ok {
			p.events = append(p.events, declared.Event)
		}
	}
	proof, err := x.verifyProof(f, p)
	if err != nil {
		return post{}, err
	}
	p.verdict = x.judgeSpam(f, p, proof)
	return p, nil
}

// validFormName checks the rule for names (platform document, section 2.9).
func validFormName(name string) bool {
	for i := range len(name) {
		c := name[i]
		if !('a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_') {
			return false
		}
	}
	return name != "" && len(name) <= maxFormName
}

// storePost stores a post, its lead's row and its events.
func (s *Site) storePost(ctx context.Context, p post) (Lead, error) {
	if err := s.commitFiles(ctx, p.uploads); err != nil {
		return Lead{}, errors.Join(errFileNotStored, err)
	}
	span := trace.Start(ctx, "form_insert", insertInto("leads")...)
	lead, events, again, err := s.store.capture(ctx, p)
	span.End(err)
	if again || errors.Is(err, errTokenReused) { // no lead has the files
		var keys []string
		for _, u := range p.uploads {
			keys = append(keys, u.key)
		}
		if err := s.dropFiles(ctx, keys); err != nil {
			s.options.Logger.Error("files of no lead not deleted", "error", err) // if not, the site deletes them when it is made again
		}
	}
	if err == nil && s.options.StillThere != nil {
		err = s.options.StillThere()
	}
	if err != nil {
		return Lead{}, err
	}
	if lead.Spam != nil && !again {
		s.options.Logger.Warn("lead kept apart as spam", "lead", lead.ID, "form", lead.Form, "why", lead.Spam.String())
		s.events.publishUpdate("spam", lead)
	}
	if lead.Submission.Status == SubmissionPending {
		span := trace.Start(ctx, "form_row_insert", insertInto(lead.Submission.Table)...)
		lead.Submission, err = s.store.submit(ctx, s.options.SubmissionsDB, lead)
		span.End(cmp.Or(err, lead.Submission.failure()))
		if err != nil {
			// The lead is stored; the row will be written later.
			s.options.Logger.Error("submission not noted", "lead", lead.ID, "error", err)
			s.retrier.noteOutcome(SubmissionPending)
		}
		if lead.Submission.Error != "" {
			s.options.Logger.Warn(
				"submission row not written",
				"lead", lead.ID, "table", lead.Submission.Table, "error", lead.Submission.Error,
			)
		}
		s.retrier.noteOutcome(lead.Submission.Status)
	}
	if s.options.OnLead != nil {
		s.options.OnLead(lead)
	}
	s.raise(events)
	return lead, nil
}

// insertInto returns the attributes of the span of an INSERT.
func insertInto(table string) []trace.Attribute {
	return []trace.Attribute{
		trace.Word(trace.DBSystem, "sqlite"), trace.Word(trace.DBOperation, "INSERT"), trace.Text(trace.DBCollection, table),
	}
}

// failure returns the error of a row that was not written, nil for none.
func (s Submission) failure() error {
	if s.Error == "" {
		return nil
	}
	return errors.New(s.Error)
}

// raise announces stored events.
func (s *Site) raise(events []Event) {
	for _, e := range events {
		s.events.publish(e)
		if s.options.OnEvent != nil {
			s.options.OnEvent(e)
		}
	}
	if s.dispatcher != nil {
		s.dispatcher.notify()
	}
}
