package sso

// Elsewhere are the return paths that must not be followed.
var Elsewhere = elsewhere
