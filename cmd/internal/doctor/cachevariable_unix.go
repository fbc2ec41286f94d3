//go:build unix

package doctor

// cacheVariable names the folder that the user's caches are in.
const cacheVariable = "XDG_CACHE_HOME"
