package lanes

// home is the lane of a tenant, and how often the tenant came, of late.
type home struct{ lane, uses int }

const (
	// recent is after how many uses for each lane all counts are halved.
	recent = 4096
	// telling is how many uses a lane must have had for its load to say something.
	telling = 256
)

// homeOf is the home of a tenant that holds no connection and waits for none: the
// next lane in turn when it is met first, so that few tenants are spread as
// evenly as many. Tenants are not alike, so one moves to the idlest lane where
// that has a fifth less to do than its own, and still will have. l.mu is held.
func (l *Lanes) homeOf(name string) *home {
	h := l.homes[name]
	if h == nil {
		h = &home{lane: len(l.homes) % len(l.lanes)}
		l.homes[name] = h
		return h
	}
	from, to := &l.lanes[h.lane], l.idlest()
	if from.uses > telling && l.lanes[to].load(0) < from.load(0)*4/5 && l.lanes[to].load(h.uses) < from.load(-h.uses) {
		from.uses -= h.uses
		l.lanes[to].uses += h.uses
		h.lane = to
	}
	return h
}

func (l *Lanes) idlest() int {
	idlest := 0
	for n := range l.lanes {
		if l.lanes[n].load(0) < l.lanes[idlest].load(0) {
			idlest = n
		}
	}
	return idlest
}

// load is how much each of the lane's connections has to do, with so many uses
// more.
func (l *lane) load(more int) float64 { return float64(l.uses+more) / float64(l.size) }

// count notes one use.
func (l *Lanes) count(h *home) {
	h.uses++
	l.lanes[h.lane].uses++
	l.uses++
	if l.uses < recent*len(l.lanes) {
		return
	}
	l.uses /= 2
	for n := range l.lanes {
		l.lanes[n].uses = 0
	}
	for _, h := range l.homes {
		h.uses /= 2
		l.lanes[h.lane].uses += h.uses
	}
}
