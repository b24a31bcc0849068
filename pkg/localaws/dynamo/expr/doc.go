// Package expr is DynamoDB's expression language: condition, filter, key
// condition, projection and update expressions. A text is parsed once
// (Cache) into a tree that still holds its placeholders; each request binds
// the tree to its own names and values (Scope), which is where everything
// that depends on them is checked, and then evaluates it against items.
//
// Everything here is pure. Errors are *attr.Invalid with the wording of the
// service's ValidationException. Items are never changed in place.
package expr
