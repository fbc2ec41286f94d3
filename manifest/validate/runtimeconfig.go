package validate

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/pages-toolchain/pages/manifest"
	"github.com/pages-toolchain/pages/manifest/diagnostic"
	"github.com/pages-toolchain/pages/manifest/jsontree"
	"github.com/pages-toolchain/pages/manifest/limits"
	"github.com/pages-toolchain/pages/manifest/sitepath"
	"github.com/pages-toolchain/pages/manifest/sourcetext"
)

// checkRuntimeConfig reads the JSON runtime config of the bundle, if it ships one. It returns the compatibility flags
// declared there: the manifest may not declare any then.
func (b *bundle) checkRuntimeConfig() []string {
	for _, name := range manifest.RuntimeConfigs() {
		target, _, err := sitepath.Follow(b.fsys, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		var src []byte
		fix := "replace it with a file, or remove it"
		if err == nil {
			src, err = sitepath.ReadFile(b.fsys, target, limits.MaxManifestBytes+1)
		}
		if err == nil && len(src) > limits.MaxManifestBytes {
			err, fix = fmt.Errorf("it is longer than %d bytes", limits.MaxManifestBytes), "make the file smaller, or remove it"
		}
		if err != nil {
			c := &runtimeConfig{bundle: b, file: name, where: sourcetext.NewLines("")}
			msg := "the file cannot be read: " + sitepath.Reason(err)
			c.report(diagnostic.Warning, diagnostic.CodeRuntimeConfig, "", sourcetext.Span{}, msg, fix)
			return nil
		}
		c := &runtimeConfig{bundle: b, file: name, where: sourcetext.NewLines(string(src))}
		return c.flags()
	}
	return nil
}

// RuntimeFlags returns the compatibility flags in the JSON runtime config of an uploaded site. Errors among the diagnostics
// refuse the config beside the site's manifest, whose text it takes.
func RuntimeFlags(text []byte, file string, config []byte) ([]string, diagnostic.List) {
	if len(config) > limits.MaxManifestBytes {
		return nil, nil // as in a build
	}
	d := manifest.ParseDocument(manifest.FileName, text)
	d.Diagnostics = nil // the first check reported them
	c := &runtimeConfig{bundle: &bundle{Document: d}, file: file, where: sourcetext.NewLines(string(config))}
	flags := c.flags()
	return flags, d.Diagnostics
}

// runtimeConfig is a JSON runtime config of the bundle.
type runtimeConfig struct {
	*bundle
	file  string
	where *sourcetext.Lines
	masks diagnostic.Masks // of the text, made for the first report
}

func (c *runtimeConfig) report(s diagnostic.Severity, code string, p jsontree.Pointer, at sourcetext.Span, msg, fix string) {
	if c.masks == nil {
		c.masks = diagnostic.NewMasks(c.where)
	}
	d := diagnostic.InFile(c.file, c.where, s, code, string(p), at, msg, fix)
	line := []rune(d.Source)
	c.masks.Hide(d.Line, line)
	d.Source = string(line)
	c.Diagnostics = append(c.Diagnostics, d)
}

// flags checks and returns the items of compatibility_flags.
func (c *runtimeConfig) flags() []string {
	const key = "compatibility_flags"
	root, faults := jsontree.ParseJSONC(c.where.Src)
	for _, f := range faults {
		c.report(diagnostic.Warning, diagnostic.CodeRuntimeConfig, "", f.Span, f.Msg, f.Fix)
	}
	list := root.Get(key)
	if list == nil {
		return nil
	}
	at := jsontree.Pointer("").Key(key)
	if list.Kind != jsontree.ArrayNode {
		msg := fmt.Sprintf("%s must be an array, not %s", key, list.Kind.Name())
		c.report(diagnostic.Error, diagnostic.CodeRuntimeConfig, at, list.Span, msg, "put it in brackets")
		return nil
	}
	var flags []string
	for i, n := range list.Items {
		if flag := n.Str(); flag == manifest.FlagNodeJS || flag == manifest.FlagStrictlyPublic {
			flags = append(flags, flag)
			continue
		}
		allowed := []string{manifest.FlagStrictlyPublic, manifest.FlagNodeJS}
		msg := fmt.Sprintf("the platform does not accept the compatibility flag %s", sourcetext.Quote(n.Literal(c.where.Src)))
		fix := cmp.Or(diagnostic.DidYouMean(n.Str(), allowed), "use "+sourcetext.OneOf(allowed))
		c.report(diagnostic.Error, diagnostic.CodeFlagUnknown, at.Index(i), n.Span, msg, fix)
	}
	const own = jsontree.Pointer("/runtime/compatibilityFlags")
	if len(list.Items) > 0 && len(c.Root.Resolve(own).List()) > 0 {
		msg := fmt.Sprintf("compatibility flags are already declared in %s", sourcetext.Quote(path.Base(c.file)))
		c.Refuse(diagnostic.CodeFlagsTwice, own, msg, "declare them in one of the two files only")
	}
	return flags
}
