// Package localawstest is for tests: it serves the local backend to a whole process,
// records histories of calls that are made side by side, and kills a process that
// writes to a backend on disk.
package localawstest
