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

// NewContract makes the definitions. Their schemas take a few milliseconds, when they are first asked for: keep the result.
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
			"same arguments with confirmation_id perform it. A revision whose migrations take away rows or values needs their " +
			"tables in allow_data_loss. " +
			"Never report a page as scheduled unless the result says so. To publish at once use page.publish.",
	})
	c.UndoDraft = define[UndoDraftArgs, Draft](all, Tool{
		Name: "automations.undo_draft", Title: "Undo a draft's change", Effect: Writes, Replays: true,
		Description: "Writes the previous state of an automation's draft back as a new change; the running version stays. " +
			"Needs an idempotency key. To take the whole draft back use automations.discard_draft.",
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
			"made in each look performed; none rather than noise.",
	})
}

// defineAssumed defines the tools whose contract is an assumption.
func (c *Contract) defineAssumed() {
	all := &c.tools
	c.PageList = define[NoArgs, PageList](all, Tool{
		Name: "page.list", Title: "List pages",
		Description: "Lists the pages of the workspace with their addresses, revisions, what is live and what is scheduled.",
	})
	c.CreatePage = define[CreatePageArgs, CreatePage](all, Tool{
		Name: "page.create", Title: "Create a page", Effect: Writes, Replays: true,
		Description: "Makes a page with an address of its own. Nothing is served there until a revision is uploaded " +
			"and published. Needs an idempotency key.",
	})
	c.Publish = define[PublishArgs, Publish](all, Tool{
		Name: "page.publish", Title: "Publish a page", Effect: Proposes,
		Description: "Makes a revision of a page what its address serves, at once. The first call proposes; the same " +
			"arguments with confirmation_id perform it. A revision whose migrations take away rows or values needs their " +
			"tables in allow_data_loss. Never report a page as live unless serving_now is true.",
	})
	c.Rollback = define[RollbackArgs, Publish](all, Tool{
		Name: "page.rollback", Title: "Roll a page back", Effect: Proposes,
		Description: "Makes a revision that was live before what the page serves again. The first call proposes; the " +
			"same arguments with confirmation_id perform it.",
	})
	c.Unschedule = define[UnscheduleArgs, Unschedule](all, Tool{
		Name: "page.unschedule", Title: "Call off a scheduled publish", Effect: Writes,
		Description: "Calls off the scheduled publish of a page. What is live stays.",
	})
	c.DomainList = define[NoArgs, DomainList](all, Tool{
		Name: "domain.list", Title: "List domains",
		Description: "Lists the domains of the workspace and the page that each points at.",
	})
	c.Connect = define[ConnectArgs, Connect](all, Tool{
		Name: "domain.connect", Title: "Connect a domain", Effect: Proposes,
		Description: "Connects a domain to a page for the first time, and says which DNS records its owner must set. " +
			"The first call proposes; the same arguments with confirmation_id perform it. " +
			"Nothing is served there until domain.verify found the TXT record. When serving_now is false the address " +
			"must not be called live. To move a domain that is connected use domain.point_at_site.",
	})
	c.Verify = define[VerifyArgs, Verify](all, Tool{
		Name: "domain.verify", Title: "Verify a domain", Effect: Writes,
		Description: "Looks in DNS for the TXT record that proves a domain to be the workspace's, which domain.list " +
			"shows. Once it is found, the page is served there.",
	})
	c.RedoDraft = define[UndoDraftArgs, Draft](all, Tool{
		Name: "automations.redo_draft", Title: "Redo a draft's change", Effect: Writes, Replays: true,
		Description: "Writes a change that was undone back as a new change. Needs an idempotency key.",
	})
	c.DiscardDraft = define[DiscardDraftArgs, Draft](all, Tool{
		Name: "automations.discard_draft", Title: "Discard a draft", Effect: Writes, Replays: true,
		Description: "Writes the state of the running version back as a new change. Needs an idempotency key.",
	})
	c.Revisions = define[SiteArgs, RevisionList](all, Tool{
		Name: "page.revisions", Title: "List a page's revisions",
		Description: "Lists the revisions of a page, newest first: what is live, scheduled or previewed, and when each was last published.",
	})
	c.Rehearse = define[RehearseArgs, Rehearse](all, Tool{
		Name: "page.rehearse", Title: "Rehearse migrations", Rehearses: true,
		Description: "Runs migrations on a copy of the page's database, and says which rows and values they take away. The " +
			"page's own database stays as it is. page.publish rehearses the revision that it publishes by itself.",
	})
	c.RestorePoints = define[RestorePointsArgs, RestorePoints](all, Tool{
		Name: "page.restore_points", Title: "List a page's restore points",
		Description: "Lists the moments to which the data of a page can be put back, newest first: before each publish and each " +
			"restore, and every few minutes in which something was written. To put one back use page.restore_data.",
	})
	c.RestoreData = define[RestoreDataArgs, RestoreData](all, Tool{
		Name: "page.restore_data", Title: "Put a page's data back", Effect: Proposes,
		Description: "Puts the database of a page back to a restore point, with the code of then unless revision says otherwise, or " +
			"shows it in a preview. The first call proposes and says which rows are lost by it; the same arguments with confirmation_id " +
			"perform it. The data until now become a restore point first. What is in buckets and key-value stores stays.",
	})
	c.ListSecrets = define[SiteArgs, SecretList](all, Tool{
		Name: "page.list_secrets", Title: "List a page's secrets",
		Description: "Lists the names of a page's secrets, those that the manifest names and have no value among " +
			"them. Values are never answered.",
	})
	c.SetSecret = define[SetSecretArgs, SecretChange](all, Tool{
		Name: "page.set_secret", Title: "Set a secret", Effect: Writes,
		Description: "Sets a secret of a page. What is live reads the new value from the next request on.",
	})
	c.RemoveSecret = define[RemoveSecretArgs, SecretChange](all, Tool{
		Name: "page.remove_secret", Title: "Remove a secret", Effect: Writes,
		Description: "Removes a secret of a page. What is live no longer reads it.",
	})
	c.Leads = define[LeadListArgs, LeadList](all, Tool{
		Name: "page.leads", Title: "List leads",
		Description: "Lists what the forms of published pages captured, newest first, with the automation events that each lead raised. " +
			"Spam is kept apart: spam lists it in their place.",
	})
}
