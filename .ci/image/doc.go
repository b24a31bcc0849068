// Command image packs the container worker into an OCI archive, without a
// container engine.
//
// The image holds two layers: the roots of trust, which change seldom and are
// then shared by many versions, and the worker. Nothing else is in it: no shell,
// no package manager, no library. It runs as user 65532 and never needs to write
// to its own file system.
//
// The same binary gives the same archive, byte for byte, wherever and whenever
// it is packed: entries are sorted, and neither times nor owners of this machine
// enter. So whoever has the sources can check what is in an image.
//
// This is a module of its own so that what reads and writes images is no
// dependency of the product.
package main
