package toolapi

// Contract is every tool of this version of the API.
type Contract struct {
	BrandProfileStatus Typed[NoArgs, BrandProfile]
	ContentStatus      Typed[ContentStatusArgs, ContentStatus]
	ScheduleRead       Typed[ScheduleReadArgs, Schedule]
	SchedulePublish    Typed[SchedulePublishArgs, SchedulePublish]
	PointAtSite        Typed[PointAtSiteArgs, PointAtSite]
	UndoDraft          Typed[UndoDraftArgs, Draft]
	TryShape           Typed[TryShapeArgs, TryShape]
	SetPrimaryVariant  Typed[SetPrimaryVariantArgs, SetPrimaryVariant]
	RecommendStyle     Typed[NoArgs, RecommendStyle]

	PageList     Typed[NoArgs, PageList]
	CreatePage   Typed[CreatePageArgs, CreatePage]
	Publish      Typed[PublishArgs, Publish]
	Rollback     Typed[RollbackArgs, Publish]
	Unschedule   Typed[UnscheduleArgs, Unschedule]
	DomainList   Typed[NoArgs, DomainList]
	Connect      Typed[ConnectArgs, Connect]
	Verify       Typed[VerifyArgs, Verify]
	RedoDraft    Typed[UndoDraftArgs, Draft]
	DiscardDraft Typed[DiscardDraftArgs, Draft]

	RestorePoints Typed[RestorePointsArgs, RestorePoints]
	RestoreData   Typed[RestoreDataArgs, RestoreData]

	Revisions    Typed[SiteArgs, RevisionList]
	Rehearse     Typed[RehearseArgs, Rehearse]
	ListSecrets  Typed[SiteArgs, SecretList]
	SetSecret    Typed[SetSecretArgs, SecretChange]
	RemoveSecret Typed[RemoveSecretArgs, SecretChange]
	Leads        Typed[LeadListArgs, LeadList]

	Settings       Typed[SiteArgs, Settings]
	ChangeSettings Typed[ChangeSettingsArgs, ChangeSettings]
	MarkLead       Typed[MarkLeadArgs, MarkLead]

	tools []*Tool
}

// Tools lists the tools in the order of their definition.
func (c *Contract) Tools() []*Tool { return c.tools }

// NewContract makes the definitions. Their schemas take a few milliseconds on first use: keep the result.
func NewContract() *Contract {
	c := &Contract{}
	c.defineDocumented()
	c.defineAssumed()
	c.defineSettings()
	return c
}

// defineDocumented defines the tools whose contract the platform document shows.
func (c *Contract) defineDocumented() {
	all := &c.tools
	c.ContentStatus = define[ContentStatusArgs, ContentStatus](all, Tool{
		Name: "content.status", Title: "Content status",
		Description: "Lists content pieces with their lifecycle status, newest-updated first, page by page. " +
			"Use it before answering any question about what is drafted, ready, scheduled or live. For the layout of " +
			"a week by days use schedule.read.",
	})
	c.ScheduleRead = define[ScheduleReadArgs, Schedule](all, Tool{
		Name: "schedule.read", Title: "Read the schedule",
		Description: "Returns one week of the schedule grid: the format rows that the active cadence plans, each " +
			"piece in its day column, and the time zone of the columns.",
	})
	c.PointAtSite = define[PointAtSiteArgs, PointAtSite](all, Tool{
		Name: "domain.point_at_site", Title: "Point a domain at a site", Effect: Proposes,
		Description: "Moves a domain the member already has onto a different site. The first call proposes; the same " +
			"arguments with confirmation_id perform it. " +
			"When serving_now is false the address must not be called live. An address that the service gave to a page cannot be moved.",
	})
	c.SchedulePublish = define[SchedulePublishArgs, SchedulePublish](all, Tool{
		Name: "page.schedule_publish", Title: "Schedule a publish", Effect: Proposes,
		Description: "Publishes a page at a time from five minutes to one year ahead. The first call proposes; the " +
			"same arguments with confirmation_id perform it. A revision whose migrations remove rows or values needs their " +
			"tables in allow_data_loss. " +
			"Never report a page as scheduled unless the result says so. To publish at once use page.publish.",
	})
	c.UndoDraft = define[UndoDraftArgs, Draft](all, Tool{
		Name: "automations.undo_draft", Title: "Undo a draft's change", Effect: Writes, Replays: true,
		Description: "Restores the previous state of an automation's draft as a new change; the running version stays. " +
			"Needs an idempotency key. To discard the whole draft use automations.discard_draft.",
	})
	c.TryShape = define[TryShapeArgs, TryShape](all, Tool{
		Name: "shorts.try_shape", Title: "Try a shape", Effect: Writes,
		Description: "Adds one more short to next week in the shape that a competitor's short uses; only the shape is " +
			"copied, the words stay the person's own.",
	})
	c.SetPrimaryVariant = define[SetPrimaryVariantArgs, SetPrimaryVariant](all, Tool{
		Name: "approvals.set_primary_variant", Title: "Choose the primary variant", Effect: Writes,
		Description: "Chooses which variant of an asset goes forward for review. It approves and releases nothing; a person still decides.",
	})
	c.BrandProfileStatus = define[NoArgs, BrandProfile](all, Tool{
		Name: "brand_profile.status", Title: "Brand profile status",
		Description: "Returns which sections of the brand profile are filled, its status and whether a booking " +
			"contact is set. It edits nothing.",
	})
	c.RecommendStyle = define[NoArgs, RecommendStyle](all, Tool{
		Name: "shorts.recommend_style", Title: "Recommend a look",
		Description: "Returns at most two saved looks worth using next and why, judged from how the shorts and videos " +
			"made in each look performed; none without good evidence.",
	})
}

// defineAssumed defines the tools whose contract is an assumption.
func (c *Contract) defineAssumed() {
	all := &c.tools
	c.PageList = define[NoArgs, PageList](all, Tool{
		Name: "page.list", Title: "List pages",
		Description: "Lists the pages of the workspace with their addresses, revisions, live revision and scheduled publish.",
	})
	c.CreatePage = define[CreatePageArgs, CreatePage](all, Tool{
		Name: "page.create", Title: "Create a page", Effect: Writes, Replays: true,
		Description: "Creates a page with an address of its own, which serves nothing until a revision is uploaded " +
			"and published. Needs an idempotency key.",
	})
	c.Publish = define[PublishArgs, Publish](all, Tool{
		Name: "page.publish", Title: "Publish a page", Effect: Proposes,
		Description: "Publishes a revision of a page at its address, at once. The first call proposes; the same " +
			"arguments with confirmation_id perform it. A revision whose migrations remove rows or values needs their " +
			"tables in allow_data_loss. Never report a page as live unless serving_now is true.",
	})
	c.Rollback = define[RollbackArgs, Publish](all, Tool{
		Name: "page.rollback", Title: "Roll a page back", Effect: Proposes,
		Description: "Publishes a revision that was live before. The first call proposes; the " +
			"same arguments with confirmation_id perform it.",
	})
	c.Unschedule = define[UnscheduleArgs, Unschedule](all, Tool{
		Name: "page.unschedule", Title: "Cancel a scheduled publish", Effect: Writes,
		Description: "Cancels the scheduled publish of a page. The live revision stays.",
	})
	c.DomainList = define[NoArgs, DomainList](all, Tool{
		Name: "domain.list", Title: "List domains",
		Description: "Lists the domains of the workspace and the page that each points at.",
	})
	c.Connect = define[ConnectArgs, Connect](all, Tool{
		Name: "domain.connect", Title: "Connect a domain", Effect: Proposes,
		Description: "Connects a domain to a page for the first time, and returns the DNS records that its owner must set. " +
			"The first call proposes; the same arguments with confirmation_id perform it. " +
			"It serves nothing until domain.verify has found the TXT record. When serving_now is false the address " +
			"must not be called live. To move a domain that is connected use domain.point_at_site.",
	})
	c.Verify = define[VerifyArgs, Verify](all, Tool{
		Name: "domain.verify", Title: "Verify a domain", Effect: Writes,
		Description: "Looks in DNS for the TXT record that proves that a domain belongs to the workspace, which domain.list " +
			"shows. When it is found, the domain serves the page.",
	})
	c.RedoDraft = define[UndoDraftArgs, Draft](all, Tool{
		Name: "automations.redo_draft", Title: "Redo a draft's change", Effect: Writes, Replays: true,
		Description: "Restores an undone change as a new change. Needs an idempotency key.",
	})
	c.DiscardDraft = define[DiscardDraftArgs, Draft](all, Tool{
		Name: "automations.discard_draft", Title: "Discard a draft", Effect: Writes, Replays: true,
		Description: "Restores the state of the running version as a new change. Needs an idempotency key.",
	})
	c.Revisions = define[SiteArgs, RevisionList](all, Tool{
		Name: "page.revisions", Title: "List a page's revisions",
		Description: "Lists the revisions of a page, newest first, with live, scheduled and previewed ones marked, and the time each " +
			"was last published.",
	})
	c.Rehearse = define[RehearseArgs, Rehearse](all, Tool{
		Name: "page.rehearse", Title: "Rehearse migrations", Rehearses: true,
		Description: "Runs migrations on a copy of the page's database, and returns the rows and values that they remove. The " +
			"page's own database stays as it is. page.publish also rehearses the revision that it publishes.",
	})
	c.RestorePoints = define[RestorePointsArgs, RestorePoints](all, Tool{
		Name: "page.restore_points", Title: "List a page's restore points",
		Description: "Lists the points to which the data of a page can be restored, newest first: before each publish and each " +
			"restore, and every few minutes with writes. To restore one use page.restore_data.",
	})
	c.RestoreData = define[RestoreDataArgs, RestoreData](all, Tool{
		Name: "page.restore_data", Title: "Restore a page's data", Effect: Proposes,
		Description: "Restores the database of a page to a restore point, with the code of that time unless revision names another, or " +
			"shows it in a preview. The first call proposes and returns the rows that will be lost; the same arguments with " +
			"confirmation_id " +
			"perform it. The current data become a restore point first. Buckets and key-value stores do not change.",
	})
	c.ListSecrets = define[SiteArgs, SecretList](all, Tool{
		Name: "page.list_secrets", Title: "List a page's secrets",
		Description: "Lists the names of a page's secrets, including declared ones without a value. " +
			"Values are never returned.",
	})
	c.SetSecret = define[SetSecretArgs, SecretChange](all, Tool{
		Name: "page.set_secret", Title: "Set a secret", Effect: Writes,
		Description: "Sets a secret of a page. The live revision reads the new value from the next request on.",
	})
	c.RemoveSecret = define[RemoveSecretArgs, SecretChange](all, Tool{
		Name: "page.remove_secret", Title: "Remove a secret", Effect: Writes,
		Description: "Removes a secret of a page. The live revision no longer reads it.",
	})
	c.Leads = define[LeadListArgs, LeadList](all, Tool{
		Name: "page.leads", Title: "List leads",
		Description: "Lists the leads of published pages' forms, newest first, with the automation events that each raised. " +
			"Spam is not among them: set spam to list spam instead.",
	})
}
