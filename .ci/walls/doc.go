// Package walls proves that the linter's walls stand: a rule that nobody has
// seen refuse anything may have been misspelt for a year.
//
// A scratch module gets the rooms of this repository as empty packages and one
// small violation behind each wall; one run of the linter with the repository's
// own configuration must name every one of them, with its reason, and must say
// nothing about the files that keep the rules.
package walls
