package web

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Limits that keep a slow or endless client from holding the server.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 30 * time.Second
	maxHeaderBytes    = 256 << 10
)

func newServer(idle time.Duration, h http.Handler, log *slog.Logger) *http.Server {
	return &http.Server{
		Handler:           h,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idle,
		MaxHeaderBytes:    maxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelWarn),
	}
}

// Serve answers on l until ctx ends, then stops accepting and lets what runs
// finish until grace ends. A connection may be idle for that long between two
// requests. It returns nil after a clean stop.
func Serve(ctx, grace context.Context, l net.Listener, idle time.Duration, h http.Handler, log *slog.Logger) error {
	server := newServer(idle, h, log)
	failed := make(chan error, 1)
	go func() { failed <- server.Serve(l) }()
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	if err := server.Shutdown(grace); err != nil {
		_ = server.Close()
		return errors.New("some requests were still running when the time to shut down was over: they were cut off")
	}
	return nil
}
