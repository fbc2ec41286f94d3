package engine

// Reservation counts bytes that are held for a Worker for longer than a host call, such as
// messages that nobody has read yet. A little of it is the Worker's own; the rest is
// taken of a HostMemory. It is safe for concurrent use. Close it.
type Reservation struct{ account *account }

// Reservation returns a Reservation of no bytes yet.
func (m *HostMemory) Reservation() *Reservation { return &Reservation{newAccount(m)} }

// Add counts n bytes more, or fewer where n is negative. What is counted need not fit.
func (r *Reservation) Add(n int64) {
	if n < 0 {
		r.account.discharge(-n)
		return
	}
	r.account.used.Add(n)
}

// Fits reports whether there is memory for all that is counted. It takes what is lacking, and
// does not wait for it.
func (r *Reservation) Fits() bool {
	return r.account.used.Load() <= r.account.covered.Load() || r.account.tryReserve()
}

// Bytes is how many are counted.
func (r *Reservation) Bytes() int64 { return r.account.used.Load() }

// Close gives all back.
func (r *Reservation) Close() { r.account.close() }
