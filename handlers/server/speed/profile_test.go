package speed

import (
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync"
)

// profile takes profiles of the server for as long as a turn takes; what it
// returns waits for them.
func (s *running) profile(path string) (wait func()) {
	folder := os.Getenv("SPEED_PROFILE")
	if folder == "" {
		return func() {}
	}
	var all sync.WaitGroup
	for _, kind := range []string{"profile", "allocs"} {
		all.Go(func() {
			url := fmt.Sprintf("http://%s/debug/pprof/%s?seconds=%d", s.bare, kind, number("SPEED_SECONDS", 3))
			check(fetch(url, filepath.Join(folder, filepath.Base(path)+"."+kind)))
		})
	}
	return all.Wait
}

func fetch(url, file string) error {
	answer, err := http.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	f, err := os.Create(file)
	if err != nil {
		return err
	}
	defer f.Close()
	_, err = io.Copy(f, answer.Body)
	return err
}
