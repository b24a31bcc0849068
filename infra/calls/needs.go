package calls

import (
	"go/ast"
	"go/constant"
	"go/types"
	"maps"
	"slices"
	"strings"
)

const service = "github.com/aws/aws-sdk-go-v2/service/"

// actions are the rights that calls need whose name is not that of the right.
var actions = map[string]string{"sqs:SendMessageBatch": "sqs:SendMessage", "sqs:DeleteMessageBatch": "sqs:DeleteMessage",
	"sqs:ChangeMessageVisibilityBatch": "sqs:ChangeMessageVisibility", "lambda:Invoke": "lambda:InvokeFunction", "sfn:StartExecution": "states:StartExecution",
	"eventbridge:PutEvents": "events:PutEvents"}

// written are the rights that the parts of a transaction need.
var written = map[string]string{"Put": "PutItem", "Update": "UpdateItem", "Delete": "DeleteItem", "ConditionCheck": "ConditionCheckItem"}

// Needs are the rights that the program needs, sorted: "sqs:SendMessage", and of
// DynamoDB the table, too: "dynamodb:Query on jobs/index/due".
func (g *Program) Needs() []string {
	needs := map[string]bool{}
	reached := g.reached()
	for f := range reached {
		for _, call := range g.direct(f) {
			switch {
			case !strings.HasPrefix(call, "dynamodb:"):
				needs[renamed(call)] = true
			case call != "dynamodb:TransactWriteItems": // its parts say what it needs
				needs[call+" on ?"] = true
			}
		}
		for _, right := range g.tables(f) {
			needs[right] = true
		}
	}
	// A call whose table is not known stays in the list only when the table was
	// found nowhere: then a person has to look.
	for right := range needs {
		if call, unknown := strings.CutSuffix(right, "?"); unknown && slices.ContainsFunc(slices.Collect(maps.Keys(needs)), func(other string) bool {
			return other != right && strings.HasPrefix(other, call)
		}) {
			delete(needs, right)
		}
	}
	return slices.Sorted(maps.Keys(needs))
}

func renamed(call string) string {
	if right, is := actions[call]; is {
		return right
	}
	return call
}

// direct are the calls of AWS that the text of f makes.
func (g *Program) direct(f *types.Func) []string {
	var found []string
	for _, called := range g.mentions(f) {
		receiver := called.Signature().Recv()
		if receiver == nil || called.Pkg() == nil || !strings.HasPrefix(called.Pkg().Path(), service) || !called.Exported() {
			continue
		}
		// What is signed for somebody else needs the signer's right.
		name, signed := strings.CutPrefix(called.Name(), "Presign")
		if of := nameOf(receiver.Type()); (of == "Client" && !signed || of == "PresignClient" && signed) && called.Signature().Params().Len() > 1 {
			found = append(found, strings.TrimPrefix(called.Pkg().Path(), service)+":"+name)
		}
	}
	return found
}

// tables are the rights on tables that f names: the call is the one whose input
// the table's name is put into, here or in the function that it is handed to.
func (g *Program) tables(f *types.Func) []string {
	d, ours := g.declared[f]
	if !ours {
		return nil
	}
	var rights []string
	var around []ast.Node
	ast.Inspect(d.body, func(n ast.Node) bool {
		if n == nil {
			around = around[:len(around)-1]
			return true
		}
		around = append(around, n)
		if table := tableNamed(n, d.info); table != "" {
			for _, right := range g.rightsAround(f, d.info, around) {
				action, index, _ := strings.Cut(right, "/")
				if index != "" {
					index = "/index/" + index
				}
				rights = append(rights, action+" on "+table+index)
			}
		}
		return true
	})
	return rights
}

// tableNamed is the table that a selector such as s.tables.Jobs names.
func tableNamed(n ast.Node, info *types.Info) string {
	selector, is := n.(*ast.SelectorExpr)
	if !is {
		return ""
	}
	selected, is := info.Selections[selector]
	if !is || selected.Kind() != types.FieldVal || nameOf(selected.Recv()) != "Tables" {
		return ""
	}
	return strings.ToLower(selector.Sel.Name)
}

// rightsAround are the rights that the innermost literal or call around a table's
// name stands for, "action" or "action/index".
func (g *Program) rightsAround(f *types.Func, info *types.Info, around []ast.Node) []string {
	for n := len(around) - 1; n >= 0; n-- {
		var found []string
		switch node := around[n].(type) {
		case *ast.CompositeLit:
			found = g.ofLiteral(f, info.TypeOf(node))
		case *ast.CallExpr:
			if called := calledBy(node, info); called != nil {
				if _, ours := g.declared[called]; ours {
					found = g.direct(called)
				}
			}
		}
		if len(found) > 0 {
			return indexed(found, indexNamed(around[n], info))
		}
	}
	return g.direct(f)
}

// ofLiteral are the rights that a literal of that type stands for: an input of
// the SDK, a part of a transaction, or what a function of the same package takes.
func (g *Program) ofLiteral(f *types.Func, of types.Type) []string {
	n, is := types.Unalias(of).(*types.Named)
	if !is || n.Obj().Pkg() == nil {
		return nil
	}
	name, from := n.Obj().Name(), n.Obj().Pkg().Path()
	switch {
	case from == service+"dynamodb" && strings.HasSuffix(name, "Input"):
		return []string{"dynamodb:" + strings.TrimSuffix(name, "Input")}
	case from == service+"dynamodb/types" && written[name] != "":
		return []string{"dynamodb:" + written[name]}
	case n.Obj().Pkg() != f.Pkg():
		return nil
	}
	var found []string
	for taker := range g.declared {
		for p := range taker.Signature().Params().Variables() {
			if types.Identical(p.Type(), of) {
				found = append(found, g.direct(taker)...)
			}
		}
	}
	return found
}

func calledBy(call *ast.CallExpr, info *types.Info) *types.Func {
	name, is := call.Fun.(*ast.Ident)
	if selector, selected := call.Fun.(*ast.SelectorExpr); selected {
		name, is = selector.Sel, true
	}
	if !is {
		return nil
	}
	f, _ := info.Uses[name].(*types.Func)
	return f
}

// indexNamed is the index that is named inside of a literal or call by one of
// the constants Index…; empty = the table itself.
func indexNamed(within ast.Node, info *types.Info) string {
	index := ""
	ast.Inspect(within, func(n ast.Node) bool {
		if name, is := n.(*ast.Ident); is && strings.HasPrefix(name.Name, "Index") {
			if c, is := info.Uses[name].(*types.Const); is {
				index = constant.StringVal(c.Val())
			}
		}
		return true
	})
	return index
}

func indexed(rights []string, index string) []string {
	if index == "" {
		return rights
	}
	with := make([]string, len(rights))
	for i, right := range rights {
		with[i] = right + "/" + index
	}
	return with
}

func nameOf(t types.Type) string {
	if p, is := types.Unalias(t).(*types.Pointer); is {
		t = p.Elem()
	}
	if n, is := types.Unalias(t).(*types.Named); is {
		return n.Obj().Name()
	}
	return ""
}
