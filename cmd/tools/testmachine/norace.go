//go:build !race

package testmachine

const raced = false
