package images

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// enterMany puts n images of a site into a queue, each for a second. It returns how many have a place, and how many had one.
func enterMany(t *testing.T, q *Queue, site lanes, n int, bytes int64) (inside, done *atomic.Int32) {
	t.Helper()
	inside, done = new(atomic.Int32), new(atomic.Int32)
	for range n {
		go func() {
			leave, err := q.enter(t.Context(), site, bytes)
			if err != nil {
				t.Error(err)
				return
			}
			inside.Add(1)
			time.Sleep(time.Second)
			inside.Add(-1)
			done.Add(1)
			leave()
		}()
	}
	return inside, done
}

func sum(all []*atomic.Int32) (n int) {
	for _, one := range all {
		n += int(one.Load())
	}
	return n
}

// TestImageQueueOfSites: all sites of a process have as many places as there are for one.
func TestImageQueueOfSites(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(nil)
		var inside []*atomic.Int32
		for range 20 {
			in, _ := enterMany(t, q, newLanes(2), 3, 1<<10)
			inside = append(inside, in)
		}
		synctest.Wait()
		if got, want := sum(inside), cap(q.lanes.slots); got != want {
			t.Errorf("%d images of 20 sites are worked on, want %d", got, want)
		}
		time.Sleep(time.Minute)
	})
}

// TestImageQueueLarge: one large image of all sites is worked on, and small ones, also of a
// site with large ones, do not wait for it.
func TestImageQueueLarge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(nil)
		site := newLanes(2)
		first, _ := enterMany(t, q, site, 5, largeImage+1)
		large := []*atomic.Int32{first}
		for range 5 {
			in, _ := enterMany(t, q, newLanes(2), 5, largeImage+1)
			large = append(large, in)
		}
		synctest.Wait()
		small, _ := enterMany(t, q, site, 1, 1<<10)
		synctest.Wait()
		if sum(large) != 1 || small.Load() != 1 {
			t.Errorf("%d large images and %d small ones are worked on, want one of each", sum(large), small.Load())
		}
		time.Sleep(time.Minute)
	})
}

// TestImageQueueTurns: a site with many images does not keep out one of another.
func TestImageQueueTurns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(nil)
		_, many := enterMany(t, q, newLanes(2), 500, 1<<10)
		synctest.Wait()
		_, one := enterMany(t, q, newLanes(2), 1, 1<<10)
		time.Sleep(5 * time.Second)
		if one.Load() != 1 {
			t.Errorf("it waits behind %d images of the other site", many.Load())
		}
		time.Sleep(time.Hour)
	})
}
