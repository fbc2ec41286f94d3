package migrate

import (
	"cmp"
	"slices"
	"sort"
)

// rowIndex finds the first of many sets that contains a row, without searching each.
type rowIndex struct {
	runs  []indexedRun // by their first rows
	reach []int64      // the greatest last row of the runs up to each
}

type indexedRun struct {
	rowRun

	set int
}

func newRowIndex(sets []*rowset) *rowIndex {
	x := &rowIndex{}
	for i, s := range sets {
		for _, run := range s.runs {
			x.runs = append(x.runs, indexedRun{run, i})
		}
		for id := range s.strays {
			x.runs = append(x.runs, indexedRun{rowRun{id, id}, i})
		}
	}
	slices.SortFunc(x.runs, func(a, b indexedRun) int { return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.set, b.set)) })
	for i, run := range x.runs {
		if i > 0 {
			run.last = max(run.last, x.reach[i-1])
		}
		x.reach = append(x.reach, run.last)
	}
	return x
}

// first returns the index of the first set that has a row; -1 for none.
func (x *rowIndex) first(id int64) int {
	first := -1
	at := sort.Search(len(x.runs), func(i int) bool { return x.runs[i].first > id })
	for at--; at >= 0 && x.reach[at] >= id; at-- {
		if run := x.runs[at]; run.last >= id && (first < 0 || run.set < first) {
			first = run.set
		}
	}
	return first
}

// deletedRows finds the one of many deletions that removed a row.
type deletedRows struct {
	deletions []deletion
	index     *rowIndex
	again     []int // indexes of deletions that removed rows of the run; nil for rows without stable ids
}

// newDeletedRows expects the deletions from a table in their order.
func newDeletedRows(o *object, deletions []deletion) *deletedRows {
	r := &deletedRows{deletions: deletions}
	keyed := slices.ContainsFunc(o.shape.columns, func(c shapeColumn) bool { return c.rowid })
	sets := make([]*rowset, len(deletions))
	for i, d := range deletions {
		sets[i] = d.ids
		if keyed && d.again.members > 0 {
			r.again = append(r.again, i)
		}
	}
	r.index = newRowIndex(sets)
	return r
}

func (r *deletedRows) has(id int64) bool { return r.index.first(id) >= 0 }

// last returns the statement that deleted a row, the last one if another row had its key in between; nil for none.
func (r *deletedRows) last(id int64) *deletion {
	by := r.index.first(id)
	if by < 0 {
		return nil
	}
	for _, i := range slices.Backward(r.again) {
		if i > by && r.deletions[i].again.has(id) {
			by = i
			break
		}
	}
	return &r.deletions[by]
}
