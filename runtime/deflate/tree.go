package deflate

// This file builds Huffman trees like zlib: the choice between equally good trees determines the output bytes.

// smaller orders nodes by frequency, and those of the same by depth.
func (s *symbols) smaller(tree []node, a, b int) bool {
	return tree[a].code < tree[b].code || tree[a].code == tree[b].code && s.depth[a] <= s.depth[b]
}

// sink moves the node at a place of the heap down to its position.
func (s *symbols) sink(tree []node, at int) {
	v := s.heap[at]
	for child := at << 1; child <= s.heapLen; child <<= 1 {
		if child < s.heapLen && s.smaller(tree, s.heap[child+1], s.heap[child]) {
			child++
		}
		if s.smaller(tree, v, s.heap[child]) {
			break
		}
		s.heap[at] = s.heap[child]
		at = child
	}
	s.heap[at] = v
}

// build makes the codes of a tree of frequencies, and returns the last element in use.
func (s *symbols) build(tree []node, k kind) (most int) {
	const smallest = 1 // the place in the heap
	most = -1
	s.heapLen, s.heapMax = 0, heapSize
	for i := range k.elements {
		if tree[i].code == 0 {
			tree[i].len = 0
			continue
		}
		s.heapLen++
		s.heap[s.heapLen], most = i, i
		s.depth[i] = 0
	}
	for s.heapLen < 2 { // a tree has at least two codes
		i := 0
		if most < 2 {
			most++
			i = most
		}
		s.heapLen++
		s.heap[s.heapLen] = i
		tree[i].code, s.depth[i] = 1, 0
		s.cost--
		if k.static != nil {
			s.staticCost -= int(k.static[i].len)
		}
	}
	for i := s.heapLen / 2; i >= 1; i-- {
		s.sink(tree, i)
	}
	for fork := k.elements; s.heapLen >= 2; fork++ {
		a := s.heap[smallest]
		s.heap[smallest] = s.heap[s.heapLen]
		s.heapLen--
		s.sink(tree, smallest)
		b := s.heap[smallest]
		s.heapMax -= 2
		s.heap[s.heapMax+1], s.heap[s.heapMax] = a, b
		tree[fork].code = tree[a].code + tree[b].code
		s.depth[fork] = max(s.depth[a], s.depth[b]) + 1
		tree[a].len, tree[b].len = uint16(fork), uint16(fork)
		s.heap[smallest] = fork
		s.sink(tree, smallest)
	}
	s.heapMax--
	s.heap[s.heapMax] = s.heap[smallest]
	s.measure(tree, k, most)
	makeCodes(tree, most, &s.counts)
	return most
}

// measure finds the lengths of codes, none longer than the longest allowed, and the size of the block.
func (s *symbols) measure(tree []node, k kind, most int) {
	s.counts = [maxBits + 1]uint16{}
	tree[s.heap[s.heapMax]].len = 0 // the root
	over := 0
	for _, i := range s.heap[s.heapMax+1 : heapSize] {
		n := int(tree[tree[i].len].len) + 1
		if n > k.longest {
			n = k.longest
			over++
		}
		tree[i].len = uint16(n)
		if i > most {
			continue // a fork
		}
		s.counts[n]++
		extra := 0
		if i >= k.base {
			extra = int(k.extra[i-k.base])
		}
		s.cost += int(tree[i].code) * (n + extra)
		if k.static != nil {
			s.staticCost += int(tree[i].code) * (int(k.static[i].len) + extra)
		}
	}
	if over == 0 {
		return
	}
	for ; over > 0; over -= 2 {
		n := k.longest - 1
		for s.counts[n] == 0 {
			n--
		}
		s.counts[n]--
		s.counts[n+1] += 2
		s.counts[k.longest]--
	}
	at := heapSize
	for n := k.longest; n != 0; n-- {
		for left := s.counts[n]; left != 0; {
			at--
			i := s.heap[at]
			if i > most {
				continue
			}
			if int(tree[i].len) != n {
				s.cost += (n - int(tree[i].len)) * int(tree[i].code)
				tree[i].len = uint16(n)
			}
			left--
		}
	}
}

// lengths yields the lengths of a tree's codes in runs: repeated means count repetitions of the previous length.
func lengths(tree []node, most int, give func(length, count int, repeated bool)) {
	before, next := -1, int(tree[0].len)
	count, longest, shortest := 0, 7, 4
	if next == 0 {
		longest, shortest = 138, 3
	}
	for i := range most + 1 {
		length := next
		next = -1
		if i < most {
			next = int(tree[i+1].len)
		}
		if count++; count < longest && length == next {
			continue
		}
		switch {
		case count < shortest:
			for range count {
				give(length, 1, false)
			}
		case length != 0:
			if length != before {
				give(length, 1, false)
				count--
			}
			give(length, count, true)
		default:
			give(length, count, true)
		}
		count, before = 0, length
		switch {
		case next == 0:
			longest, shortest = 138, 3
		case length == next:
			longest, shortest = 6, 3
		default:
			longest, shortest = 7, 4
		}
	}
}

// scan counts the codes that the lengths of a tree take.
func (s *symbols) scan(tree []node, most int) {
	lengths(tree, most, func(length, count int, repeated bool) {
		switch {
		case !repeated:
			s.lens[length].code++
		case length != 0:
			s.lens[repeat].code++
		case count <= 10:
			s.lens[zeros].code++
		default:
			s.lens[manyZeros].code++
		}
	})
}

// writeTree writes the lengths of a tree's codes.
func (w *Writer) writeTree(tree []node, most int) {
	lengths(tree, most, func(length, count int, repeated bool) {
		switch {
		case !repeated:
			w.code(w.lens[length])
		case length != 0:
			w.code(w.lens[repeat])
			w.put(count-3, 2)
		case count <= 10:
			w.code(w.lens[zeros])
			w.put(count-3, 3)
		default:
			w.code(w.lens[manyZeros])
			w.put(count-11, 7)
		}
	})
}
