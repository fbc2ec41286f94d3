package toolapi

// This file holds the tools about what a page was given to publish: its revisions and
// its secrets. Their contracts are assumptions in the spirit of their neighbours.

// SiteArgs name a site.
type SiteArgs struct {
	SiteID UUID `json:"site_id" jsonschema:"the site"`
	Scope
}

// RevisionList are the revisions of a page.
type RevisionList struct {
	Success
	SiteID    string            `json:"site_id"`
	Revisions []RevisionSummary `json:"revisions" jsonschema:"newest first"`
}

// RevisionSummary is a revision as page.revisions shows it.
type RevisionSummary struct {
	Revision    string  `json:"revision"`
	CreatedAt   string  `json:"created_at"`
	Files       int     `json:"files"`
	Bytes       int64   `json:"bytes"`
	Live        bool    `json:"live" jsonschema:"what the page serves"`
	Scheduled   bool    `json:"scheduled" jsonschema:"a scheduled publish will make it live"`
	Previewed   bool    `json:"previewed" jsonschema:"a preview link shows it"`
	PublishedAt *string `json:"published_at" jsonschema:"when it last went live; null when it never did"`
}

// SecretList are the names of a page's secrets. Values are never answered.
type SecretList struct {
	Success
	SiteID  string   `json:"site_id"`
	Secrets []Secret `json:"secrets" jsonschema:"sorted by name"`
}

// Secret is a secret as page.list_secrets shows it.
type Secret struct {
	Name     string  `json:"name"`
	SetAt    *string `json:"set_at" jsonschema:"null when it has no value"`
	Declared bool    `json:"declared" jsonschema:"the newest revision's manifest names it, so that the Worker reads it"`
}

// SetSecretArgs are the arguments of page.set_secret.
type SetSecretArgs struct {
	SiteID UUID        `json:"site_id" jsonschema:"the site"`
	Name   SecretName  `json:"name" jsonschema:"as the manifest's bindings.secrets names it"`
	Value  SecretValue `json:"value" jsonschema:"kept encrypted, and never answered"`
	Scope
}

// RemoveSecretArgs are the arguments of page.remove_secret.
type RemoveSecretArgs struct {
	SiteID UUID       `json:"site_id" jsonschema:"the site"`
	Name   SecretName `json:"name" jsonschema:"the secret"`
	Scope
}

// SecretChange is a secret that was set or removed.
type SecretChange struct {
	Success
	SiteID   string `json:"site_id"`
	Name     string `json:"name"`
	Replaced bool   `json:"replaced" jsonschema:"it had a value before"`
}

type (
	// SecretName is the name of a secret.
	SecretName string
	// SecretValue is the value of a secret.
	SecretValue string
)

// definePublishing defines the tools of this file.
func (c *Contract) definePublishing() {
	all := &c.tools
	c.Revisions = define[SiteArgs, RevisionList](all, Tool{
		Name: "page.revisions", Title: "List a page's revisions",
		Description: "Lists the revisions of a page, newest first: what is live, scheduled or previewed, and when each was last published.",
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
}
