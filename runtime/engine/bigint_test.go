package engine_test

import (
	"testing"
	"time"

	"github.com/pages-toolchain/pages/runtime/engine"
)

// TestBigIntOrder compares every BigInt with every Number of a table that is in
// order: each operator must agree with the order of the table (ECMA-262, 7.2.12).
func TestBigIntOrder(t *testing.T) {
	i := start(t, engine.IsolateOptions{})
	const code = `(() => {
		const numbers = [-Infinity, -1e300, -(2 ** 64) - 4096, -(2 ** 64), -4294967296.5, -3, -2.5, -2, -1.5, -1.1, -1, -0.9, -0.5,
		-0.1, -Number.MIN_VALUE, 0,
			Number.MIN_VALUE, 0.1, 0.5, 0.9, 1, 1.1, 1.5, 2, 2.5, 3, 4294967296.5, 2 ** 64, 2 ** 64 + 4096, 1e300, Infinity];
		const wrong = [];
		let count = 0;
		for (const [at, whole] of numbers.entries()) {
			if (!Number.isInteger(whole)) continue;
			const big = BigInt(whole);
			for (const [place, number] of numbers.entries()) {
				const got = [big < number, big <= number, big > number, big >= number, big == number, number < big, number <= big,
				number > big, number >= big, number == big];
				const want = [at < place, at <= place, at > place, at >= place, at === place, place < at, place <= at, place > at,
				place >= at, at === place];
				count++;
				if (got.join() !== want.join()) wrong.push(big + " and " + number);
			}
			if (big < NaN || big > NaN || NaN <= big || big == NaN) wrong.push(big + " and NaN");
		}
		return [count, wrong.slice(0, 5)];
	})()`
	if got, err := run(i, scope(t, time.Minute), code); err != nil || got != `[403,[]]` {
		t.Errorf("%s, error %v", got, err)
	}
}
