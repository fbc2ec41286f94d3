package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// The translation of quickjs.wasm to Go is wasm2go's output with changes: the host provides memory, all instances
// share one table of functions, imports have the names of quickjs.Host, and exports have a look-up by name.

// quickjsPatched is the module that is translated.
const quickjsPatched = "runtime/engine/artifact/quickjs.wasm"

// buildTranslation translates the patched module.
func buildTranslation(ctx context.Context, root string) ([]byte, []string, error) {
	wasm, err := os.ReadFile(filepath.Join(root, quickjsPatched))
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "tool", "wasm2go", "-unsafe", "-pkg", "quickjs", "-tags", "!wazero_engine")
	var stdout, stderr bytes.Buffer
	cmd.Dir, cmd.Stdin, cmd.Stdout, cmd.Stderr = root, bytes.NewReader(wasm), &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return nil, nil, fmt.Errorf("wasm2go: %w: %s", err, bytes.TrimSpace(stderr.Bytes()))
	}
	code, err := translate(stdout.String(), sha256.Sum256(wasm))
	if err != nil {
		return nil, nil, fmt.Errorf("the output of wasm2go: %w", err)
	}
	return code, []string{quickjsPatched}, nil
}

// translation is the code of wasm2go while it is changed. Its error is the first missing place.
type translation struct {
	code string
	err  error
}

// replace replaces text that occurs n times.
func (t *translation) replace(old, by string, n int) {
	if found := strings.Count(t.code, old); found != n {
		t.fail("%q occurs %d times, not %d", old, found, n)
	}
	t.code = strings.ReplaceAll(t.code, old, by)
}

// take removes the only match of an expression, and returns its groups.
func (t *translation) take(expression string) []string {
	all := regexp.MustCompile(expression).FindAllStringSubmatchIndex(t.code, 2)
	if len(all) != 1 {
		t.fail("%q matches %d times, not once", expression, len(all))
		return slices.Repeat([]string{""}, 8)
	}
	var groups []string
	for at := 0; at < len(all[0]); at += 2 {
		groups = append(groups, t.code[all[0][at]:all[0][at+1]])
	}
	t.code = t.code[:all[0][0]] + t.code[all[0][1]:]
	return groups
}

func (t *translation) fail(format string, args ...any) {
	if t.err == nil {
		t.err = fmt.Errorf(format, args...)
	}
}

// endOfData ends wasm2go's code. The data of the module follow, and stay unchanged.
const endOfData = "\nconst (\n\tdata0"

// translate changes the code of wasm2go. source is the hash of the module.
func translate(code string, source [sha256.Size]byte) ([]byte, error) {
	body, data, ok := strings.Cut(code, endOfData)
	if !ok {
		return nil, fmt.Errorf("it has no %q", endOfData)
	}
	t := &translation{code: body}
	t.code = regexp.MustCompile(`\bModule\b`).ReplaceAllString(t.code, "instance")
	made := t.take(`(?s)func New\(.*?\n}\n`)[0]
	fields := t.take(`(?s)type instance struct \{\n(.*?)\n}\n`)[1]
	t.imports()
	t.memory()
	t.table(made)
	t.exports(made, fields, source)
	// The module has no data races, and code with the checks of the race detector or checkptr takes minutes to compile.
	t.code = regexp.MustCompile(`(?m)^func (\(m \*instance\) )?(fn\d|X)`).ReplaceAllString(t.code, "//go:norace\n//go:nocheckptr\n$0")
	if t.err != nil {
		return nil, t.err
	}
	return format.Source([]byte(t.code + endOfData + data))
}

// imports calls the module's imports by the names of Host.
func (t *translation) imports() {
	names := regexp.MustCompile(`\bm\.(_env|_wasi_snapshot_preview1)\.X(\w+)\(`)
	t.code = names.ReplaceAllStringFunc(t.code, func(call string) string {
		var b strings.Builder
		b.WriteString("m.host.")
		for word := range strings.SplitSeq(strings.TrimSuffix(names.FindStringSubmatch(call)[2], "("), "_") {
			b.WriteString(strings.ToUpper(word[:1]) + word[1:])
		}
		return b.String() + "("
	})
	t.take(`(?s)type Xenv = interface \{.*?\n}\n`)
	t.take(`(?s)type Xwasi_snapshot_preview1 = interface \{.*?\n}\n`)
}

// memory makes it grow in place. Most of the new contents are zeros, which need no copy.
func (t *translation) memory() {
	t.take(`(?s)type Memory = interface \{.*?\n}\n`)
	t.take(`(?s)func \(m \*wasmMemory\) Slice\(.*?\n}\n`)
	t.take(`(?s)func \(m \*wasmMemory\) Grow\(.*?\n}\n`)
	t.take(`(?s)func \(m \*instance\) Xmemory\(.*?\n}\n`)
	t.take(`(?s)func memory_grow\(.*?\n}\n`)
	t.take(`const maxMem = \d+\n`)
	t.code = regexp.MustCompile(`\bmemory_grow\(&m\.memory, int64\((\w+)\), maxMem\)`).ReplaceAllString(t.code, "m.Grow(uint32($1))")
	const filled = "\tbuf := mem[x:y:len(mem)]\n"
	t.replace(filled, filled+"\tif val == 0 {\n\t\tclear(buf)\n\t\treturn\n\t}\n", 1)
}

// tableInit matches how New fills the table: its functions, and the place of the first.
var tableInit = regexp.MustCompile(`m\.elements = \[\]\[\]any\{\{(.*?)\}\}\n` +
	`\ttable_init\(m\.t0, m\.elements\[0\], i32\((\d+)\), 0,`)

// table makes one table for all instances.
func (t *translation) table(made string) {
	elements := tableInit.FindStringSubmatch(made)
	if elements == nil {
		t.fail("New does not fill one table")
		return
	}
	t.take(`(?s)func table_init\[.*?\n}\n`)
	t.take(`(?s)func \(m \*instance\) X__indirect_function_table\(.*?\n}\n`)
	call := regexp.MustCompile(`\bm\.t0\[uint\((\w+)\)\]\.\(func\(([^()]*)\)`)
	calls := len(call.FindAllStringIndex(t.code, -1))
	if uses := strings.Count(t.code, "m.t0"); uses != calls {
		t.fail("the table is used %d times, and called %d times", uses, calls)
	}
	arguments := regexp.MustCompile(`(\btable\[uint\(\w+\)\]\.\(func\(\*instance, [^()]*\)[^()]*\)\()`)
	t.code = call.ReplaceAllString(t.code, "table[uint($1)].(func(*instance, $2)")
	if found := len(arguments.FindAllStringIndex(t.code, -1)); found != calls {
		t.fail("%d of %d calls of the table were found", found, calls)
	}
	t.code = arguments.ReplaceAllString(t.code, "${1}m, ")
	var b strings.Builder
	b.WriteString("\n// table is the functions that are called by their number.\nvar table []any\n\nfunc init() {\n\ttable = []any{\n")
	first := elements[2]
	for n, name := range strings.Split(elements[1], ", ") {
		value := "(*instance)." + strings.TrimPrefix(name, "m.")
		if !strings.HasPrefix(name, "m.") {
			value = t.withInstance(name)
		}
		if n == 0 {
			value = first + ": " + value
		}
		b.WriteString("\t\t" + value + ",\n")
	}
	b.WriteString("\t}\n}\n")
	t.code += b.String()
}

// parameters matches the parameters of a function with their types; several may share a type.
var parameters = regexp.MustCompile(`(\w+(?:, \w+)*) (\w+)`)

// withInstance is a function of the module that takes an instance and does not need it.
func (t *translation) withInstance(name string) string {
	f := regexp.MustCompile(`(?m)^func ` + name + `\((.*?)\) ?(\w*) ?\{`).FindStringSubmatch(t.code)
	if f == nil {
		t.fail("the function %s is not found", name)
		return "nil"
	}
	var names []string
	for _, group := range parameters.FindAllStringSubmatch(f[1], -1) {
		names = append(names, group[1])
	}
	result := ""
	if f[2] != "" {
		result = "return "
	}
	return fmt.Sprintf("func(_ *instance, %s) %s { %s%s(%s) }", f[1], f[2], result, name, strings.Join(names, ", "))
}

// exports writes the type of an instance, its constructor and the tables of its exports.
func (t *translation) exports(made, fields string, source [sha256.Size]byte) {
	pages := regexp.MustCompile(`m\.memory = make\(\[\]byte, (\w+)\)`).FindStringSubmatch(made)
	if pages == nil {
		t.fail("New makes no memory")
		return
	}
	var b, load, globals strings.Builder
	b.WriteString("\n// instance is a Module.\ntype instance struct {\n\thost Host\n")
	for field := range strings.Lines(fields + "\n") {
		if name := strings.Fields(field)[0]; name[0] == 'g' || name == "wasmMemory" {
			b.WriteString(field)
		}
	}
	b.WriteString("}\n\nfunc newInstance(h Host, memory []byte) Module {\n\tm := &instance{host: h}\n\tm.memory = memory\n")
	for line := range strings.Lines(made) {
		switch {
		case strings.HasPrefix(line, "\tm.g"):
			b.WriteString(line)
		case strings.HasPrefix(line, "\tmemory_init("):
			load.WriteString(line)
		}
	}
	b.WriteString("\treturn m\n}\n\nfunc (m *instance) Load() {\n" + load.String() + "}\n\n")
	b.WriteString("func (m *instance) Grow(pages uint32) int32 {\n\tsize := uint64(len(m.memory))\n" +
		"\tmemory := m.host.Grow(size + uint64(pages)<<16)\n\tif memory == nil {\n\t\treturn -1\n\t}\n" +
		"\tm.memory = memory\n\treturn int32(size >> 16)\n}\n\n")
	b.WriteString("func (m *instance) Close() { m.memory = nil }\n\n")
	global := regexp.MustCompile(`func \(m \*instance\) X(\w+)\(\) \*int32 \{\n\treturn &m\.(g\d+)\n`)
	for _, g := range global.FindAllStringSubmatch(t.code, -1) {
		fmt.Fprintf(&globals, "\tcase %q:\n\t\treturn &m.%s\n", g[1], g[2])
	}
	b.WriteString("func (m *instance) Global(name string) *int32 {\n\tswitch name {\n" + globals.String() + "\t}\n\treturn nil\n}\n\n")
	fmt.Fprintf(&b, "func init() {\n\ttranslation = &Translation{\n\t\tSource: %#v,\n\t\tMemory: %s,\n\t\tNew: newInstance,\n"+
		"\t\tFunctions: map[string]Function{\n", source, pages[1])
	for _, f := range regexp.MustCompile(`func \(m \*instance\) X(\w+)\((.*?)\) ?(\w*) ?\{`).FindAllStringSubmatch(t.code, -1) {
		fmt.Fprintf(&b, "\t\t\t%q: func(m Module, stack *[8]uint64) { %s },\n", f[1], callFromStack(f[1], f[2], f[3]))
	}
	b.WriteString("\t\t},\n\t}\n}\n")
	t.code += b.String()
}

// callFromStack is the call of an exported function with arguments from the stack.
func callFromStack(name, params, result string) string {
	var arguments []string
	for _, group := range parameters.FindAllStringSubmatch(params, -1) {
		for range strings.SplitSeq(group[1], ", ") {
			argument := fmt.Sprintf("%s(stack[%d])", group[2], len(arguments))
			if group[2][0] == 'f' {
				argument = fmt.Sprintf("math.Float64frombits(stack[%d])", len(arguments))
			}
			arguments = append(arguments, argument)
		}
	}
	call := fmt.Sprintf("m.(*instance).X%s(%s)", name, strings.Join(arguments, ", "))
	switch result {
	case "":
		return call
	case "int32":
		return "stack[0] = uint64(uint32(" + call + "))"
	case "float64":
		return "stack[0] = math.Float64bits(" + call + ")"
	}
	return "stack[0] = uint64(" + call + ")"
}
