package lanes

// Waiting is how many requests wait for a connection now.
func (l *Lanes) Waiting() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue)
}
