package calls

import (
	"go/ast"
	"go/types"
)

// reached are the functions of ours that the program can come to, by what the
// text mentions.
func (g *Program) reached() map[*types.Func]bool {
	seen := map[*types.Func]bool{g.main: true}
	open := []*types.Func{g.main}
	for len(open) > 0 {
		f := open[len(open)-1]
		open = open[:len(open)-1]
		for _, next := range g.mentions(f) {
			if !seen[next] {
				seen[next] = true
				open = append(open, next)
			}
		}
	}
	return seen
}

// mentions are the functions that f may call: those it names, and for a method
// of an interface those of every type of ours that has it.
func (g *Program) mentions(f *types.Func) []*types.Func {
	d, ours := g.declared[f]
	if !ours {
		return nil
	}
	var found []*types.Func
	ast.Inspect(d.body, func(n ast.Node) bool {
		name, is := n.(*ast.Ident)
		if !is {
			return true
		}
		called, is := d.info.Uses[name].(*types.Func)
		if !is {
			return true
		}
		called = called.Origin()
		found = append(found, called)
		if receiver := called.Signature().Recv(); receiver != nil {
			if i, is := receiver.Type().Underlying().(*types.Interface); is {
				found = append(found, g.implementations(i, called)...)
			}
		}
		return true
	})
	return found
}

func (g *Program) implementations(i *types.Interface, method *types.Func) []*types.Func {
	var found []*types.Func
	for _, n := range g.named {
		pointer := types.NewPointer(n)
		if types.IsInterface(n) || !types.Implements(pointer, i) {
			continue
		}
		if m := types.NewMethodSet(pointer).Lookup(method.Pkg(), method.Name()); m != nil {
			found = append(found, m.Obj().(*types.Func).Origin())
		}
	}
	return found
}
