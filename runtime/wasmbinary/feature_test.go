package wasmbinary

import (
	"errors"
	"testing"
)

// The error for an unsupported module names the feature, one module for each way to need it.
func TestFeatures(t *testing.T) {
	fn := head + section(SectionType, 1, 0x60, 0, 0) + section(SectionFunction, 1, 0)
	memory := section(SectionMemory, 1, 0, 1)
	body := func(instructions ...byte) string {
		return section(SectionCode, append([]byte{1, byte(len(instructions) + 2), 0}, append(instructions, 0x0b)...)...)
	}
	for name, c := range map[string]struct {
		in   string
		want Feature
	}{
		"struct":                      {head + section(SectionType, 1, 0x5f, 1, 0x7f, 0), GC},
		"array":                       {head + section(SectionType, 1, 0x5e, 0x7f, 0), GC},
		"rec":                         {head + section(SectionType, 1, 0x4e, 1, 0x60, 0, 0), GC},
		"sub":                         {head + section(SectionType, 1, 0x50, 0, 0x5f, 0), GC},
		"sub final":                   {head + section(SectionType, 1, 0x4f, 0, 0x5f, 0), GC},
		"i31 global":                  {head + section(SectionGlobal, 1, 0x64, 0x6c, 0, 0x41, 1, 0xfb, 0x1c, 0x0b), GC},
		"anyref parameter":            {head + section(SectionType, 1, 0x60, 1, 0x6e, 0), GC},
		"null of none":                {fn + body(0xd0, 0x71, 0x1a), GC},
		"ref.eq":                      {fn + body(0xd3), GC},
		"struct.new":                  {fn + body(0xfb, 0, 0), GC},
		"block of eqref":              {fn + body(0x02, 0x6d, 0x00, 0x0b, 0x1a), GC},
		"reference of a type":         {head + section(SectionType, 2, 0x60, 0, 0, 0x60, 1, 0x64, 0, 0), TypedFuncRefs},
		"nullable reference":          {head + section(SectionType, 2, 0x60, 0, 0, 0x60, 1, 0x63, 0, 0), TypedFuncRefs},
		"null of a type":              {fn + body(0xd0, 0, 0x1a), TypedFuncRefs},
		"block of a reference":        {fn + body(0x02, 0x63, 0, 0xd0, 0x70, 0x0b, 0x1a), TypedFuncRefs},
		"call_ref":                    {fn + body(0x14, 0), TypedFuncRefs},
		"br_on_null":                  {fn + body(0xd5, 0), TypedFuncRefs},
		"table with a value":          {head + section(SectionTable, 1, 0x40, 0, 0x70, 0, 1, 0xd0, 0x70, 0x0b), TableInit},
		"relaxed SIMD":                {fn + body(0xfd, 0x80, 2), RelaxedSIMD},
		"two memories":                {head + section(SectionMemory, 2, 0, 1, 0, 1), MultipleMemory},
		"load of another memory":      {fn + body(0x41, 0, 0x28, 0x42, 1, 0, 0x1a), MultipleMemory},
		"size of another memory":      {fn + body(0x3f, 1, 0x1a), MultipleMemory},
		"copy of another memory":      {fn + body(0xfc, 10, 1, 0), MultipleMemory},
		"data of another memory":      {head + memory + section(SectionData, 1, 2, 1, 0x41, 0, 0x0b, 0), MultipleMemory},
		"memory64":                    {head + section(SectionMemory, 1, 4, 1), Memory64},
		"memory64 that is shared":     {head + section(SectionMemory, 1, 7, 1, 2), Memory64},
		"table64":                     {head + section(SectionTable, 1, 0x70, 4, 1), Memory64},
		"imported memory64":           {head + section(SectionImport, 1, 1, 'a', 1, 'b', 2, 4, 1), Memory64},
		"wide arithmetic":             {fn + body(0xfc, 19), WideArithmetic},
		"continuations":               {head + section(SectionType, 1, 0x5d, 0), StackSwitching},
		"pages of one byte":           {head + section(SectionMemory, 1, 8, 1, 0), PageSizes},
		"shared table":                {head + section(SectionTable, 1, 0x70, 3, 1, 2), SharedThings},
		"component":                   {"\x00asm\x0d\x00\x01\x00", Components},
		"shared memory":               {head + section(SectionMemory, 1, 3, 1, 2), ""},
		"exceptions and tail calls":   {fn + body(0x1f, 0x40, 1, 2, 0, 0x0b, 0x12, 0), ""},
		"atomics and SIMD":            {fn + memory + body(0xfe, 3, 0, 0xfd, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x1a), ""},
		"everything that is declared": {declaring, ""},
		"loops":                       {spin, ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := Check([]byte(c.in))
			var missing *FeatureError
			errors.As(err, &missing)
			if c.want == "" {
				if missing != nil {
					t.Errorf("got %v", err)
				}
				return
			}
			if missing == nil || missing.Feature != c.want {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
