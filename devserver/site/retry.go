package site

import (
	"context"
	"sync"
)

// retrier copies, beside the requests, the leads whose row could not be written
// when they came. One goroutine at a time does so.
type retrier struct {
	store *Store
	site  *Site

	mu         sync.Mutex
	running    bool
	wanted     bool // once more
	failed     bool // with the rows that the table refused
	unfinished bool // a row waits for nothing but another try
}

// noteOutcome hears how the copying of a new lead went. Where one row gets through,
// the ones that wait may too.
func (t *retrier) noteOutcome(status SubmissionStatus) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch status {
	case SubmissionPending:
		t.unfinished = true
	case SubmissionWritten:
		if t.unfinished {
			t.begin(false)
		}
	case SubmissionNone, SubmissionFailed:
	}
}

// retryAll tries the refused rows too: the table may have been mended.
func (t *retrier) retryAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begin(true)
}

// begin has the goroutine go round once more. The caller holds the lock.
func (t *retrier) begin(failed bool) {
	t.wanted, t.failed = true, t.failed || failed
	if t.running || t.site.options.SubmissionsDB == nil {
		return
	}
	t.running = true
	t.site.drains.Go(func() {
		for failed, more := t.next(); more; failed, more = t.next() {
			t.round(t.site.work, failed)
		}
	})
}

func (t *retrier) next() (failed, more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	failed, more = t.failed, t.wanted && t.site.work.Err() == nil
	t.running, t.wanted, t.failed = more, false, false
	return failed, more
}

func (t *retrier) round(ctx context.Context, failed bool) {
	left, err := t.store.retrySubmissions(ctx, t.site.options.SubmissionsDB, failed)
	if err != nil && ctx.Err() == nil {
		t.site.options.Logger.Error("submissions not retried", "error", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.unfinished = left || err != nil
}
