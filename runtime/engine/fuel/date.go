package fuel

import "bytes"

// This file corrects how QuickJS reads dates that are not in the standard's own
// format, which it leaves to the engine (ECMA-262, 21.4.3.2), by what V8 makes of
// them. Date.parse, which the constructor calls too, has what it needs in locals:
//
//   - a second year was taken in place of the first, so that 1/32/2021, of what
//     people type into forms, was the first of January, and 2021-001 was in the
//     year 1: there is no date (V8 reads a month in the latter);
//   - the - of an offset after seconds was passed over, so that 9:30:15-01:30 was
//     half past one;
//   - a time of hours and minutes was followed by a space, and by no Z, + or -, and
//     an offset by no GMT that comes after a day alone;
//   - t and z were no T and Z, as RFC 3339 lets them be;
//   - milliseconds came after a full stop or a comma, and not after a colon, as in
//     09:30:15:250. After a colon they are a number, after a full stop a fraction.
//     (They are read after a T as well, where V8 reads none.)

const (
	opI32DivS = 0x6d
	// dateParserType is the type of js_Date_parse (context, this, count, arguments) -> value.
	dateParserType = "\x60\x04\x7f\x7e\x7f\x7f\x01\x7e"
	// zoneReaderType is that of string_get_timezone (text, position, zone, strict) -> whether there is one.
	zoneReaderType = "\x60\x04\x7f\x7f\x7f\x7f\x01\x7f"
	// fractionReaderType is that of string_get_milliseconds (text, position, number).
	fractionReaderType = "\x60\x03\x7f\x7f\x7f\x00"
)

// change is code that stands once in a function, and what is put there.
type change struct{ from, to []byte }

var (
	// dateRead are the changes in js_Date_parse. Local 10 is whether there is a year: where one
	// is kept, it is left with no date.
	dateRead = []change{
		// a year that is a number with its sign
		{
			[]byte{opLocalGet, 4, opLocalGet, 3, opI32Store, 2, 0xd0, 1, opI32Const, 1, opLocalSet, 10},
			[]byte{opLocalGet, 10, opBrIf, 9, opLocalGet, 4, opLocalGet, 3, opI32Store, 2, 0xd0, 1, opI32Const, 1, opLocalSet, 10},
		},
		// one of three digits or more
		{
			[]byte{opIf, blockEmpty, opLocalGet, 4, opLocalGet, 2, opI32Store, 2, 0xd0, 1, opI32Const, 1, opLocalSet, 10},
			[]byte{opIf, blockEmpty, opLocalGet, 10, opBrIf, 10, opLocalGet, 4, opLocalGet, 2, opI32Store, 2, 0xd0, 1, opI32Const, 1, opLocalSet, 10},
		},
		// one of two digits, but not from 1 to 31
		{
			[]byte{opIf, blockEmpty, opLocalGet, 4, opI32Const, 0xec, 0x0e},
			[]byte{opIf, blockEmpty, opLocalGet, 10, opBrIf, 10, opLocalGet, 4, opI32Const, 0xec, 0x0e},
		},
		// an offset: local 6 is whether there is a time, local 8 whether there is no zone
		{
			[]byte{opLocalGet, 4, opLocalGet, 6, opIf, 0x7f},
			[]byte{opLocalGet, 4, opLocalGet, 6, opLocalGet, 8, opI32Eqz, opI32Or, opIf, 0x7f},
		},
		// what follows seconds: a - was passed over as one that stands between numbers
		{
			[]byte{opLocalGet, 4, opLocalGet, 7, opLocalGet, 16, opCall, 0xd9, 0x08, opBr, 7},
			[]byte{
				opLocalGet, 4, opLocalGet, 7, opLocalGet, 16, opCall, 0xd9, 0x08,
				opLocalGet, 4, opLocalGet, 4, opI32Load, 2, 0xf8, 1, opI32Add, opI32Load8U, 0, 0, opI32Const, '-', opI32Eq, opBrIf, 8, opBr, 7,
			},
		},
		// what follows minutes, which is in local 2
		{
			[]byte{opLocalGet, 2, opI32Const, ':', opI32Ne, opBrIf, 10},
			[]byte{
				opLocalGet, 2, opI32Const, '+', opI32Eq, opLocalGet, 2, opI32Const, '-', opI32Eq, opI32Or,
				opLocalGet, 2, opI32Const, 0xdf, 1, opI32And, opI32Const, 0xda, 0, opI32Eq, opI32Or, opBrIf, 8,
				opLocalGet, 2, opI32Const, ':', opI32Ne, opBrIf, 10,
			},
		},
		// T: the bit that makes a letter small does not count
		{
			[]byte{opLocalGet, 3, opI32Const, 0xff, 1, opI32And, opI32Const, 0xd4, 0, opI32Ne},
			[]byte{opLocalGet, 3, opI32Const, 0xdf, 1, opI32And, opI32Const, 0xd4, 0, opI32Ne},
		},
	}
	zoneRead = []change{
		{
			[]byte{opLocalGet, 8, opI32Const, 0xda, 0, opI32Eq},
			[]byte{opLocalGet, 8, opI32Const, 0xdf, 1, opI32And, opI32Const, 0xda, 0, opI32Eq},
		},
	}
	// fractionRead begins at a full stop or a colon, whose address is in local 7. Local 6 is
	// what was read as a fraction and local 5 what its next digit would count: a number is
	// ten times less for each digit that is missing of three.
	fractionRead = []change{
		{
			[]byte{opI32Load8U, 0, 0, opI32Const, 0xfd, 1, opI32And, opI32Const, ',', opI32Ne, opBrIf},
			[]byte{opI32Load8U, 0, 0, opLocalTee, 9, opI32Const, '.', opI32Ne, opLocalGet, 9, opI32Const, ':', opI32Ne, opI32And, opBrIf},
		},
		{
			[]byte{opLocalGet, 2, opLocalGet, 6, opI32Store, 2, 0},
			[]byte{
				opLocalGet, 2, opLocalGet, 6,
				opLocalGet, 5, opI32Const, 10, opI32Mul, opLocalGet, 5, opI32Eqz, opI32Add, opI32Const, 1,
				opLocalGet, 7, opI32Load8U, 0, 0, opI32Const, ':', opI32Eq, opSelect, opI32DivS,
				opI32Store, 2, 0,
			},
		},
	}
)

// readingDates returns code of function i of the module's own with what is changed in
// it, if it is one of the three.
func (l layout) readingDates(i int, code []byte) []byte {
	switch {
	case l.isOfType(i, dateParserType):
		return changed(code, dateRead)
	case l.isOfType(i, zoneReaderType):
		return changed(code, zoneRead)
	case l.isOfType(i, fractionReaderType):
		return changed(code, fractionRead)
	}
	return code
}

// changed returns code with all of changes, or as it is if one of them has no place, or two.
func changed(code []byte, changes []change) []byte {
	out := code
	for _, c := range changes {
		if bytes.Count(code, c.from) != 1 {
			return code
		}
		out = bytes.Replace(out, c.from, c.to, 1)
	}
	return out
}
