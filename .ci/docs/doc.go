// Package docs checks what the documents of this repository claim and a machine
// can know: that the make targets they name exist and that their links lead
// somewhere.
package docs
