// Package dev is the whole of Belfry in one process, for trying it out and for
// developing jobs: the local backend in a folder, the functions driven as the
// platform drives them, a container worker, and the API on loopback. It needs no
// account and no Docker.
//
// Everything in it is what a deployment runs; only the platform beneath is
// pkg/localaws. What it stores survives the process, also kill -9.
package dev
