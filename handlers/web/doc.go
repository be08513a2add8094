// Package web is what every page and API handler stands on: the middleware, the
// error boundary, the renderer and the assets. It knows Echo and no business.
package web
