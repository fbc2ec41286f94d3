package node

import "math/bits"

// This file is what coders take while they are open, beside their input and output, as
// their packages make it.

// cost is the memory of what compresses, in bytes.
func (z packer) cost() int64 {
	switch z.format {
	case "brotli":
		return z.brotliCost()
	case "zstd":
		return z.zstdCost()
	}
	return 1 << 20
}

// maxTreeWindow is the widest window, in bits, that brotli has at its two best qualities
// here: it keeps a tree of eight bytes for each byte of it.
const maxTreeWindow = 22

// treeQuality is from which quality on it does.
const treeQuality = 10

// fitWindow returns the packer with a window that is no wider than it can use.
func (z packer) fitWindow() packer {
	const least, usual = 10, 22
	if z.window == 0 {
		z.window = usual
	}
	if z.level >= treeQuality {
		z.window = min(z.window, maxTreeWindow)
	}
	if z.input != nil {
		z.window = max(least, min(z.window, bits.Len(uint(len(z.input)))))
	}
	return z
}

func (z packer) brotliCost() int64 {
	z = z.fitWindow()
	const tree, ring = 8 + 2, 4 // bytes for each of the window
	if z.level >= treeQuality {
		return (tree+ring)<<z.window + 2<<20
	}
	const fewest, table = 4, 4 << 14 // of quality 5 and more: quality-1 bits a bucket
	return ring<<z.window + table<<max(z.level, fewest)
}

func (z packer) zstdCost() int64 {
	const better, best = 6, 10 // from which levels on the encoder is another one
	switch {
	case z.level >= best:
		return 44 << 20
	case z.level >= better:
		return 14 << 20
	}
	return 8 << 20
}

// history is the memory that what decompresses may come to take, as it gives more.
func (z packer) history() int64 {
	switch z.format {
	case "brotli":
		return 1 << 24
	case "zstd":
		return maxZstdWindow
	}
	return 0
}
