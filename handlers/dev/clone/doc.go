// Package clone makes a fresh clone of the template a product of its own, and
// later takes a newer version of the template over into that product.
//
// The file .template says what a product began from: the template's version,
// what init was told, and of each of the template's files its hash. Because the
// hashes are those of git's blobs, the text that a file began as is found in any
// repository that ever had it, whatever its branches and tags are called.
//
// In a file that the template and the product share, what stands between
// [template only and template only] is not in the product, and what stands
// between [product only and product only] is shown there.
//
// Without init and upgrade this folder goes, with ../clone.go,
// ../production_clone.go and their lines in main.go.
package clone
