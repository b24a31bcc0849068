// Package assemble puts the rooms together: from AWS clients and settings it
// makes the store, the queues and the planes, each plane handed what it declared
// that it needs. Functions, the container worker, `belfry dev` and the
// simulation all run what this package makes, so they cannot differ.
//
// It decides nothing and holds no state of its own.
package assemble
