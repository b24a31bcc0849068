package expr

// operandKind says what an operand is.
type operandKind uint8

const (
	operandPath operandKind = iota
	operandValue
	operandCall // size, if_not_exists, list_append, + and -
)

// operand is a path, a :value or a call.
type operand struct {
	kind  operandKind
	path  path
	value string
	call  string
	args  []operand
}

// node is a condition: a comparator or boolean function over operands, or a
// connective over nodes.
type node struct {
	op       string // "AND" "OR" "NOT" "=" "<>" "<" "<=" ">" ">=" "BETWEEN" "IN" or a function
	operands []operand
	kids     []*node
	grouped  bool // stood in parentheses
}

// action is one clause of an update expression.
type action struct {
	section string // SET REMOVE ADD DELETE
	path    path
	value   operand // SET: what to store; ADD, DELETE: the :value
}
