// Package platform is the subscription platform's wire, seen from a
// sub-product: the single sign-on client, the webhook signature and the event
// envelope. It knows the contract and nothing of this server.
package platform
