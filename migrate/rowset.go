package migrate

import "sort"

// rowset is a set of rowids. Rows mostly come in the order of their ids, which needs hardly any memory; ids out of order are stored one
// by one.
type rowset struct {
	runs    []rowRun // ascending, and never touching each other
	strays  map[int64]struct{}
	members int64
}

type rowRun struct{ first, last int64 }

func (s *rowset) add(id int64) {
	n := len(s.runs)
	switch {
	case n == 0 || s.runs[n-1].last < id && s.runs[n-1].last != id-1:
		s.runs = append(s.runs, rowRun{id, id})
	case s.runs[n-1].last < id:
		s.runs[n-1].last = id
	default:
		if s.has(id) {
			return
		}
		if s.strays == nil {
			s.strays = map[int64]struct{}{}
		}
		s.strays[id] = struct{}{}
	}
	s.members++
}

func (s *rowset) has(id int64) bool {
	at := sort.Search(len(s.runs), func(i int) bool { return s.runs[i].last >= id })
	if at < len(s.runs) && s.runs[at].first <= id {
		return true
	}
	_, ok := s.strays[id]
	return ok
}

// addAll adds the rows of another set.
func (s *rowset) addAll(other *rowset) {
	for _, r := range other.runs {
		if n := len(s.runs); n == 0 || s.runs[n-1].last < r.first && s.runs[n-1].last != r.first-1 {
			s.runs = append(s.runs, r)
			s.members += r.last - r.first + 1
			continue
		}
		for id := r.first; ; id++ {
			s.add(id)
			if id == r.last {
				break
			}
		}
	}
	for id := range other.strays {
		s.add(id)
	}
}

// list returns the rows in any order.
func (s *rowset) list() []int64 {
	ids := make([]int64, 0, s.members)
	for _, r := range s.runs {
		for id := r.first; ; id++ {
			ids = append(ids, id)
			if id == r.last {
				break
			}
		}
	}
	for id := range s.strays {
		ids = append(ids, id)
	}
	return ids
}

// held is the number of entries in memory.
func (s *rowset) held() int { return len(s.runs) + len(s.strays) }
