package workerd

import "time"

// SetStall sets how long a process may neither answer nor use CPU time.
func (w *Worker) SetStall(d time.Duration) { w.stall = d }

// Process returns the process that answers; 0 for none.
func (w *Worker) Process() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.current == nil {
		return 0
	}
	return w.current.cmd.Process.Pid
}
