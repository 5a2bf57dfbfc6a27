package twofish

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// A sourceRow is a row of a kernel table as the source has it, of any architecture, with the functions it names.
type sourceRow struct {
	name         string
	batch        int // 0 if it is not a number in the source
	constantTime bool
	functions    []string // encrypt…, decrypt…, cbcEncrypt…, in the order of the source
}

var kernelFunction = regexp.MustCompile(`^(encrypt|decrypt|cbcEncrypt)[A-Z0-9]`)

// sourceRows reads the tables in kernels*.go.
func sourceRows(t *testing.T) []sourceRow {
	t.Helper()
	files, err := filepath.Glob("kernels*.go")
	if err != nil || len(files) == 0 {
		t.Skip("the source is not here (an emulated processor?): ", err)
	}
	var rows []sourceRow
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.CompositeLit)
			if !ok {
				return true
			}
			var row sourceRow
			for _, element := range literal.Elts {
				field, ok := element.(*ast.KeyValueExpr)
				if !ok {
					continue
				}
				switch key, _ := field.Key.(*ast.Ident); {
				case key == nil:
				case key.Name == "Name":
					if text, ok := field.Value.(*ast.BasicLit); ok {
						row.name, _ = strconv.Unquote(text.Value)
					}
				case key.Name == "Batch":
					if text, ok := field.Value.(*ast.BasicLit); ok {
						row.batch, _ = strconv.Atoi(text.Value)
					}
				case key.Name == "ConstantTime":
					value, ok := field.Value.(*ast.Ident)
					row.constantTime = !ok || value.Name != "false"
				case key.Name == "Funcs":
					ast.Inspect(field.Value, func(n ast.Node) bool {
						if id, ok := n.(*ast.Ident); ok && kernelFunction.MatchString(id.Name) {
							row.functions = append(row.functions, id.Name)
						}
						return true
					})
				}
			}
			if row.name != "" && row.functions != nil {
				rows = append(rows, row)
			}
			return true
		})
	}
	return rows
}

// function returns the row's function that starts with the given word, or "".
func (r *sourceRow) function(word string) string {
	for _, f := range r.functions {
		if strings.HasPrefix(f, word) {
			return f
		}
	}
	return ""
}

// TestSourceRows holds that the source is read rightly: this build's table is in it.
func TestSourceRows(t *testing.T) {
	rows := make(map[string]sourceRow)
	for _, r := range sourceRows(t) {
		if _, twice := rows[r.name]; twice {
			t.Errorf("%s comes twice", r.name)
		}
		rows[r.name] = r
	}
	for i := range kernels {
		k := &kernels[i]
		r, ok := rows[k.Name]
		if !ok || r.constantTime != k.ConstantTime || r.batch != k.Batch && r.batch != 0 || r.function("encrypt") == "" || r.function("decrypt") == "" {
			t.Errorf("%s, constant-time %v, reads as %v", k.Name, k.ConstantTime, r)
		}
	}
	if _, err := os.Stat("kernels_amd64.go"); err == nil && rows["avx2-manual"].name == "" {
		t.Error("the table of amd64 is missing")
	}
}
