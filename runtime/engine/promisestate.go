package engine

// Promise is what became of the promise that argument i is: 0 while it is
// pending, 1 when it was fulfilled and 2 when it was rejected, with what.
func (c *Call) Promise(i int) (state int, result Value) {
	promise := c.arg(i)
	state = int(int32(c.vm.call32(fnPromiseState, uint64(c.vm.js), uint64(promise))))
	if state <= 0 {
		return 0, tagged(tagUndefined, 0)
	}
	return state, Value(c.vm.call(fnPromiseResult, uint64(c.vm.js), uint64(promise)))
}
