package calls

import (
	"fmt"
	"go/ast"
	"go/types"
	"maps"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// Source is the type-checked code of ours that programs are made of.
type Source struct {
	programs map[string]*Program
}

// Program is one of the programs, with the code of ours that it is made of.
type Program struct {
	main     *types.Func
	declared map[*types.Func]declaration
	named    []*types.Named // types of ours
}

type declaration struct {
	body *ast.BlockStmt
	info *types.Info
}

// Load reads the programs in the packages at paths of the module at dir, with
// all packages of the module that they are made of.
func Load(dir, module string, paths ...string) (*Source, error) {
	roots, err := packages.Load(&packages.Config{Dir: dir, Mode: packages.NeedName | packages.NeedImports | packages.NeedDeps}, paths...)
	if err != nil {
		return nil, fmt.Errorf("find the packages of the programs: %w", err)
	}
	parts := map[string][]string{} // the packages of ours in each program
	all := map[string]bool{}
	for _, root := range roots {
		if len(root.Errors) > 0 {
			return nil, fmt.Errorf("find the packages of %s: %w", root.PkgPath, root.Errors[0])
		}
		packages.Visit([]*packages.Package{root}, nil, func(p *packages.Package) {
			if strings.HasPrefix(p.PkgPath, module+"/") {
				parts[root.PkgPath] = append(parts[root.PkgPath], p.PkgPath)
				all[p.PkgPath] = true
			}
		})
	}
	// Without their dependencies, the packages of others come as compiled.
	loaded, err := packages.Load(&packages.Config{Dir: dir, Mode: packages.LoadSyntax | packages.NeedExportFile}, slices.Sorted(maps.Keys(all))...)
	if err != nil {
		return nil, fmt.Errorf("read the packages of the programs: %w", err)
	}
	byPath := map[string]*packages.Package{}
	for _, p := range loaded {
		if len(p.Errors) > 0 {
			return nil, fmt.Errorf("read %s: %w", p.PkgPath, p.Errors[0])
		}
		byPath[p.PkgPath] = p
	}
	s := &Source{programs: map[string]*Program{}}
	for root, paths := range parts {
		made := &Program{declared: map[*types.Func]declaration{}}
		for _, path := range paths {
			made.add(byPath[path])
		}
		s.programs[strings.TrimPrefix(root, module+"/")] = made
	}
	return s, nil
}

// Program is the one in the package at that path of the module.
func (s *Source) Program(path string) (*Program, error) {
	p, is := s.programs[path]
	if !is || p.main == nil {
		return nil, fmt.Errorf("%s is no program", path)
	}
	return p, nil
}

func (g *Program) add(p *packages.Package) {
	for _, file := range p.Syntax {
		for _, d := range file.Decls {
			f, is := d.(*ast.FuncDecl)
			if !is || f.Body == nil {
				continue
			}
			object := p.TypesInfo.Defs[f.Name].(*types.Func)
			g.declared[object] = declaration{f.Body, p.TypesInfo}
			if p.Name == "main" && f.Recv == nil && f.Name.Name == "main" {
				g.main = object
			}
		}
	}
	for _, name := range p.Types.Scope().Names() {
		if t, is := p.Types.Scope().Lookup(name).(*types.TypeName); is && !t.IsAlias() {
			if n, is := t.Type().(*types.Named); is && n.TypeParams() == nil {
				g.named = append(g.named, n)
			}
		}
	}
}
