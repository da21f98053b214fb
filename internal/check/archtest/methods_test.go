package archtest

import (
	"go/ast"
	"strings"
	"testing"
)

// mostMethods is how many methods a type has at most: more of them are more than one concern.
const mostMethods = 40

// A type owns one concern, and has no more methods than a reader can hold.
func TestMethodsOfTypes(t *testing.T) {
	methods := map[string]int{} // by folder and type
	for _, f := range goFiles(t) {
		if strings.HasSuffix(f.name, "_test.go") {
			continue
		}
		for _, d := range f.file.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[f.folder+"."+receiver(fn.Recv.List[0].Type)]++
			}
		}
	}
	if len(methods) < 500 {
		t.Fatalf("%d types with methods: are the files read?", len(methods))
	}
	for name, n := range methods {
		if n > mostMethods {
			t.Errorf("%s has %d methods; at most %d", name, n, mostMethods)
		}
	}
}

// receiver returns the name of the type of a receiver.
func receiver(of ast.Expr) string {
	switch of := of.(type) {
	case *ast.StarExpr:
		return receiver(of.X)
	case *ast.IndexExpr:
		return receiver(of.X)
	case *ast.Ident:
		return of.Name
	}
	return "a type of several"
}
