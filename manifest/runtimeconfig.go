package manifest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/pages-toolchain/pages/manifest/limits"
)

// checkRuntimeConfig reads the JSON runtime config of the bundle, if it ships one. It returns the
// compatibility flags declared there: the manifest may not declare any then.
func (b *bundle) checkRuntimeConfig() []string {
	for _, name := range RuntimeConfigs() {
		target, _, err := follow(b.fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var src []byte
		fix := "put a file in its place, or remove it"
		if err == nil {
			src, err = readFile(b.fsys, target, limits.MaxManifestBytes+1)
		}
		if err == nil && len(src) > limits.MaxManifestBytes {
			err, fix = fmt.Errorf("it is longer than %d bytes", limits.MaxManifestBytes), "put a smaller file in its place, or remove it"
		}
		if err != nil {
			c := &runtimeConfig{bundle: b, file: name, where: newLines("")}
			c.report(Warning, codeRuntimeConfig, "", span{}, "the file cannot be read: "+reason(err), fix)
			return nil
		}
		c := &runtimeConfig{bundle: b, file: name, where: newLines(string(src))}
		return c.flags()
	}
	return nil
}

// RuntimeFlags returns the compatibility flags that a JSON runtime config of an uploaded site declares, beside the
// site's own manifest. The diagnostics' errors are why the two cannot be taken.
func RuntimeFlags(manifest []byte, file string, config []byte) ([]string, Diagnostics) {
	if len(config) > limits.MaxManifestBytes {
		return nil, nil // as when it is too long to be read where the site is built
	}
	d := parseDocument(FileName, manifest)
	d.diagnostics = nil // they were told when it was taken
	c := &runtimeConfig{bundle: &bundle{document: d}, file: file, where: newLines(string(config))}
	flags := c.flags()
	return flags, d.diagnostics
}

// runtimeConfig is a JSON runtime config of the bundle.
type runtimeConfig struct {
	*bundle
	file  string
	where *lines
	masks masks // of the text, made for the first report
}

func (c *runtimeConfig) report(s Severity, code string, p pointer, at span, msg, fix string) {
	if c.masks == nil {
		c.masks = newMasks(c.where)
	}
	c.addIn(c.file, c.where, s, code, p, at, msg, fix)
	last := &c.diagnostics[len(c.diagnostics)-1]
	line := []rune(last.Source)
	c.masks.hide(last.Line, line)
	last.Source = string(line)
}

// flags checks and returns what compatibility_flags lists.
func (c *runtimeConfig) flags() []string {
	const key = "compatibility_flags"
	root, faults := parseJSONC(c.where.src)
	for _, f := range faults {
		c.report(Warning, codeRuntimeConfig, "", f.span, f.msg, f.fix)
	}
	list := root.get(key)
	if list == nil {
		return nil
	}
	at := pointer("").key(key)
	if list.kind != arrayNode {
		c.report(Error, codeRuntimeConfig, at, list.span, fmt.Sprintf("%s must be an array, not %s", key, list.kind.name()), "put it in brackets")
		return nil
	}
	var flags []string
	for i, n := range list.items {
		if flag := n.str(); flag == FlagNodeJS || flag == FlagStrictlyPublic {
			flags = append(flags, flag)
			continue
		}
		allowed := []string{FlagStrictlyPublic, FlagNodeJS}
		msg := fmt.Sprintf("the platform does not accept the compatibility flag %s", quote(n.literal(c.where.src)))
		fix := cmp.Or(didYouMean(n.str(), allowed), "use "+oneOf(allowed))
		c.report(Error, codeFlagUnknown, at.index(i), n.span, msg, fix)
	}
	const own = pointer("/runtime/compatibilityFlags")
	if len(list.items) > 0 && len(c.root.resolve(own).list()) > 0 {
		msg := fmt.Sprintf("compatibility flags are declared in %s already", quote(path.Base(c.file)))
		c.refuse(codeFlagsTwice, own, msg, "declare them in one of the two files only")
	}
	return flags
}
