package toolapi

import (
	"encoding/json"
	"fmt"
	"reflect"
	"regexp"
	"sync"
	"time"

	"github.com/google/jsonschema-go/jsonschema"

	"github.com/pages-toolchain/pages/manifest/limits"
)

// This file holds the named scalar types of the contract and the rule of each. The type of a field
// determines its rule, so that each rule is stated once.
type (
	// True is the ok of a success.
	True bool
	// False is the ok of a refusal.
	False bool
	// UUID is text of the shape of a UUID.
	UUID string
	// Slug names a workspace in an argument.
	Slug string
	// Lifecycle is the status of a content piece (platform document, section 3.1).
	Lifecycle string
	// Format is the format of a content piece (section 2.1).
	Format string
	// Date is YYYY-MM-DD in an argument.
	Date string
	// Timestamp is an ISO 8601 timestamp with an offset, in an argument.
	Timestamp string
	// Cursor is the place where a page ended.
	Cursor string
	// PageSize is the number of items to return; 0 means the default.
	PageSize int
	// Counter is an integer of at least 0.
	Counter int64
	// Seconds is a duration of at least one second.
	Seconds int64
	// IdempotencyKey is the deprecated body form of the header.
	IdempotencyKey string
	// Name is text that an argument must not leave empty.
	Name string
	// PageName is the name of a page.
	PageName string
	// Hostname is the name of a domain in an argument, in lower case.
	Hostname string
	// Tried are the tiles already tried on a plan.
	Tried []string
	// ProposalState is "confirmation_required" or "done".
	ProposalState string
)

// States of the result of a two-call tool.
const (
	ConfirmationRequired ProposalState = "confirmation_required"
	Done                 ProposalState = "done"
)

// The nine lifecycle states.
var lifecycles = []any{"draft", "variants_in_progress", "ready", "approved", "scheduled", "publishing", "published", "verified", "failed"}

var formats = []any{"posts", "stories", "shorts_clips", "long_form", "articles", "podcast"}

// uuidPattern accepts hexadecimal digits in either case, like RFC 9562.
const uuidPattern = `^[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{4}-[0-9A-Fa-f]{12}$`

// hostPattern accepts names of at least two labels (RFC 1123). The last does not begin with a
// digit, which excludes IP addresses.
const hostPattern = `^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]([a-z0-9-]{0,61}[a-z0-9])?$`

func scalars() map[reflect.Type]*jsonschema.Schema {
	yes, no := any(true), any(false)
	one := 1
	text := func(longest int) *jsonschema.Schema {
		s := &jsonschema.Schema{Type: "string", MinLength: &one}
		if longest > 0 {
			s.MaxLength = &longest
		}
		return s
	}
	whole := func(least, most float64) *jsonschema.Schema {
		return &jsonschema.Schema{Type: "integer", Minimum: &least, Maximum: &most}
	}
	key := text(200)
	key.Pattern = "^[!-~]+$"
	email, emails := text(maxEmail), MaxEmails
	email.Pattern = emailPattern
	tried, tables, files := MaxTried, maxTables, maxMigrations
	host := text(253)
	host.Format, host.Pattern = "hostname", hostPattern
	size := whole(1, 100)
	size.Default = []byte("25")
	mediaType := text(255)
	mediaType.Pattern = "^[ -~]+$"
	previewLife := whole(MinPreviewSeconds, MaxPreviewSeconds)
	previewLife.Default = []byte("86400")
	previewTTL := whole(MinPreviewTTL, MaxPreviewTTL)
	previewTTL.Default = []byte("1209600")
	return map[reflect.Type]*jsonschema.Schema{
		reflect.TypeFor[True]():           {Type: "boolean", Const: &yes},
		reflect.TypeFor[False]():          {Type: "boolean", Const: &no},
		reflect.TypeFor[UUID]():           {Type: "string", Format: "uuid", Pattern: uuidPattern},
		reflect.TypeFor[Slug]():           text(0),
		reflect.TypeFor[Lifecycle]():      {Type: "string", Enum: lifecycles},
		reflect.TypeFor[Format]():         {Type: "string", Enum: formats},
		reflect.TypeFor[Date]():           {Type: "string", Pattern: `^[0-9]{4}-[0-9]{2}-[0-9]{2}$`},
		reflect.TypeFor[Timestamp]():      text(0),
		reflect.TypeFor[Cursor]():         text(512),
		reflect.TypeFor[PageSize]():       size,
		reflect.TypeFor[Counter]():        whole(0, maxInteger),
		reflect.TypeFor[Seconds]():        whole(1, maxInteger),
		reflect.TypeFor[IdempotencyKey](): key,
		reflect.TypeFor[Name]():           text(0),
		reflect.TypeFor[PageName]():       text(80),
		reflect.TypeFor[Hostname]():       host,
		reflect.TypeFor[Tried]():          {Type: "array", Items: &jsonschema.Schema{Type: "string"}, MaxItems: &tried},
		reflect.TypeFor[SpamFilter]():     {Type: "string", Enum: []any{string(SpamFilterOn), string(SpamFilterOff)}},
		reflect.TypeFor[ProofOfWork]():    {Type: "string", Enum: []any{string(ProofOfWorkOn), string(ProofOfWorkOff)}},
		reflect.TypeFor[Emails]():         {Type: "array", Items: email, MaxItems: &emails},
		reflect.TypeFor[TableNames]():     {Type: "array", Items: text(maxTableName), MaxItems: &tables},
		reflect.TypeFor[FileName]():       text(limits.MaxSegmentBytes),
		reflect.TypeFor[FolderPath]():     text(limits.MaxPathBytes),
		reflect.TypeFor[FileNames]():      {Type: "array", Items: text(limits.MaxSegmentBytes), MaxItems: &files},
		reflect.TypeFor[RehearsalState](): {
			Type: "string", Enum: []any{string(RehearsalDone), string(RehearsalNotNeeded), string(RehearsalSkipped)},
		},
		reflect.TypeFor[PointID]():         {Type: "string", Pattern: "^p[1-9][0-9]{0,17}$"},
		reflect.TypeFor[RestoreReason]():   {Type: "string", Enum: []any{"publish", "restore", "interval"}},
		reflect.TypeFor[RestoreInto]():     {Type: "string", Enum: []any{string(IntoLive), string(IntoPreview)}},
		reflect.TypeFor[RestoreLeads]():    {Type: "string", Enum: []any{string(KeepLeads), string(DropLeads)}},
		reflect.TypeFor[RestoreCode]():     {Type: "string", Enum: []any{string(CodeOfPoint), string(CodeOfLive)}},
		reflect.TypeFor[ProposalState]():   {Type: "string", Enum: []any{string(ConfirmationRequired), string(Done)}},
		reflect.TypeFor[Digest]():          {Type: "string", Pattern: "^[0-9a-f]{64}$"},
		reflect.TypeFor[MediaType]():       mediaType,
		reflect.TypeFor[PreviewSeconds]():  previewLife,
		reflect.TypeFor[PreviewName]():     text(MaxPreviewName),
		reflect.TypeFor[PreviewData]():     {Type: "string", Enum: previewData},
		reflect.TypeFor[PreviewTTL]():      previewTTL,
		reflect.TypeFor[SeedText]():        text(MaxSeedBytes),
		reflect.TypeFor[BaseRevision]():    {Types: []string{"null", "string"}, MinLength: &one},
		reflect.TypeFor[SecretName]():      text(limits.MaxName),
		reflect.TypeFor[FormName]():        text(limits.MaxName),
		reflect.TypeFor[SecretValue]():     text(maxSecret),
		reflect.TypeFor[json.RawMessage](): {Type: "object"},
		reflect.TypeFor[Source](): {
			Type: "string",
			Enum: []any{string(CallOverride), string(KeyPin), string(StoredDefault), string(SoleReachable)},
		},
	}
}

// Lifecycles are the nine lifecycle states, in the order of a piece's life.
func Lifecycles() []string { return texts(lifecycles) }

// Formats are the formats of content pieces.
func Formats() []string { return texts(formats) }

func texts(values []any) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = fmt.Sprint(v)
	}
	return all
}

// timestamp is ISO 8601 with an offset; seconds and their fraction may be left out.
var timestamp = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(\d{4}-\d{2}-\d{2}T\d{2}:\d{2})(:\d{2}(?:\.\d{1,9})?)?(Z|[+-](?:[01]\d|2[0-3]):?[0-5]\d)$`)
})

// Moment parses a timestamp; false for other text.
func (s Timestamp) Moment() (time.Time, bool) {
	part := timestamp().FindStringSubmatch(string(s))
	if part == nil {
		return time.Time{}, false
	}
	if part[2] == "" {
		part[2] = ":00"
	}
	if n := len(part[3]); n == len("+0100") {
		part[3] = part[3][:3] + ":" + part[3][3:]
	}
	t, err := time.Parse(time.RFC3339Nano, part[1]+part[2]+part[3])
	return t, err == nil
}

// ScheduleWindow returns the times between which a publish may be scheduled, both included: five minutes to one year ahead
// (platform document, section 4.5).
func ScheduleWindow(now time.Time) (soonest, latest time.Time) {
	return now.Add(5 * time.Minute), now.AddDate(1, 0, 0)
}
