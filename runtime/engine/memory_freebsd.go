package engine

// noReserve is nothing: FreeBSD has no such flag, and overcommits by default.
const noReserve = 0
