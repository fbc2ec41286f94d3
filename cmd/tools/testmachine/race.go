//go:build race

package testmachine

const raced = true
