package server_test

import "testing"

func aboutNames(t *testing.T, seen series) {}
