package instructions

import "testing"

// Made-up counters; the real ones are at work in emulation.
func TestExact(t *testing.T) {
	var now uint64
	calls := 0
	// Of reads the counter before and after each of twelve calls, then the loop grows.
	turns := func() uint64 { n := uint64(calls/24) * 1000; calls++; return n }
	for _, c := range []struct {
		name string
		step func() uint64
		want bool
	}{
		{"one for each", func() uint64 { return turns() + 7 }, true},
		{"two for each", func() uint64 { return 2*turns() + 7 }, true},
		{"one and a bit", func() uint64 { return turns() * 5 / 4 }, false},
		{"noise", func() uint64 { n := turns(); return n + n/1000%3*7 }, false},
		{"nothing", func() uint64 { return 0 }, false},
	} {
		calls = 0
		if got := exact(func() uint64 { now += c.step(); return now }); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

func TestOf(t *testing.T) {
	// The call before the measured ones does not count; of twelve and more, three times the least is enough.
	lengths, i := []uint64{1, 50, 20, 60, 20, 80, 20, 90, 90, 90, 90, 10, 90, 90, 10, 20, 10, 90}, 0
	var now uint64
	if got := Of(func() uint64 { return now }, func() { now += lengths[i]; i++ }); got != 10 || i != 17 {
		t.Errorf("%d after %d calls", got, i)
	}
	// Where every call differs, there is an end.
	i = 0
	if got := Of(func() uint64 { return now }, func() { now += uint64(1000 - i); i++ }); got != 1000-60 || i != 61 {
		t.Errorf("%d after %d calls", got, i)
	}
}

func TestOpen(t *testing.T) {
	count, err := Open()
	if err != nil {
		t.Log(err)
		return
	}
	if a, b := Of(count, func() { loop(1000) }), Of(count, func() { loop(3000) }); b <= a {
		t.Errorf("%d and %d", a, b)
	}
}
