package workerd

import "testing"

// TestPingAmong: a request that may reach workerd before a ping shares its time; a later one does not.
func TestPingAmong(t *testing.T) {
	t.Parallel()
	p := &process{w: &Worker{}}
	var m meter
	m.init(p)
	old, first := &exchange{id: "old"}, &exchange{id: "first"}
	m.running = []*exchange{old}
	other := &ping{}
	for _, c := range []struct {
		name  string
		ping  *ping
		after *ping
		joins bool
	}{
		{"not yet written", &ping{among: []*exchange{first}}, nil, true},
		{"written on a free connection", &ping{among: []*exchange{first}, sent: true}, nil, false},
		{"written on a new connection, which the request overtakes", &ping{among: []*exchange{first}, sent: true, dials: true}, nil, true},
		{"another was written before it", &ping{among: []*exchange{first}, sent: true, dials: true}, other, true},
		{"of code that runs for no request", &ping{}, nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			m.ping = c.ping
			before := len(c.ping.among)
			m.begin(&exchange{id: c.name}, c.after)
			if joins := len(c.ping.among) > before; joins != c.joins {
				t.Errorf("joins: %v", joins)
			}
		})
	}
	t.Run("dialled after it", func(t *testing.T) {
		m.ping = &ping{among: []*exchange{first}, sent: true, dials: true}
		if m.dialling() != m.ping {
			t.Error("a free connection may be used")
		}
		m.begin(&exchange{}, m.dialling())
		if len(m.ping.among) != 1 {
			t.Error("it joins")
		}
	})
}
