// Package jobfile reads files of jobs and calendars: YAML, several documents or
// lists, each item one definition or one calendar.
//
// It walks the syntax tree rather than decoding into structs, so that every
// refusal names the line: unknown and repeated keys, texts that are no duration
// or time, values of the wrong kind. Everything wrong with a file is told at
// once, as far as the file can be read at all; what the definitions or the
// calendars then break is found by the same rules that the service uses.
//
// `belfry apply` is the caller, and whatever else takes a file that a person
// wrote. The package is a function of the bytes it is given: it reads no files and
// asks no service. What it is given may be hostile: size, nesting, aliases and
// payloads are bounded, and nothing panics.
package jobfile
