package trace

// The names of attributes. Those of OpenTelemetry's semantic conventions come first.
const (
	DBSystem      = "db.system.name"
	DBOperation   = "db.operation.name"
	DBCollection  = "db.collection.name"
	DBBatchSize   = "db.operation.batch.size"
	QueryText     = "db.query.text"
	RowsReturned  = "db.response.returned_rows"
	RequestMethod = "http.request.method"
	ResendCount   = "http.request.resend_count"
	StatusCode    = "http.response.status_code"
	FullURL       = "url.full"
	ServerAddress = "server.address"
	ServerPort    = "server.port"

	RowsRead    = "cloudflare.d1.response.rows_read"
	RowsWritten = "cloudflare.d1.response.rows_written"
	KVKeys      = "cloudflare.kv.query.keys" // one, or several with ", " between them
	KVPrefix    = "cloudflare.kv.query.prefix"
	R2Key       = "cloudflare.r2.request.key"
	R2Prefix    = "cloudflare.r2.request.prefix"
)
