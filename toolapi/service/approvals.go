package service

import (
	"database/sql"

	"github.com/pages-toolchain/pages/toolapi"
)

// setPrimaryVariant is approvals.set_primary_variant (platform document, section
// 4.8). It changes which variant goes forward, and no status.
func (c *call) setPrimaryVariant(args toolapi.SetPrimaryVariantArgs) (toolapi.SetPrimaryVariant, error) {
	var id, status string
	var parent sql.NullString
	var decided sql.NullString
	found, err := c.queryOne("SELECT a.id, a.status, a.parent_id, p.status FROM assets a LEFT JOIN assets p ON p.id = "+
		"a.parent_id WHERE a.id = ? AND a.workspace_id = ?",
		[]any{string(args.ChildAssetID), c.in.id}, &id, &status, &parent, &decided)
	switch {
	case err != nil:
		return toolapi.SetPrimaryVariant{}, err
	case !found:
		return toolapi.SetPrimaryVariant{}, refuseAt(
			toolapi.CodeAssetUnknown, "There is no such asset in this workspace.", "childAssetId", "",
		)
	case !parent.Valid:
		return toolapi.SetPrimaryVariant{}, refuseAt(
			toolapi.CodeAssetIsNoVariant, "This asset is no variant of another.", "childAssetId",
			"give the id of one of its variants",
		)
	case decided.String != "draft" && decided.String != "in_review":
		return toolapi.SetPrimaryVariant{}, refuse(toolapi.CodeAssetAlreadyJudged, "A person has decided on this asset already.")
	}
	err = c.exec("UPDATE assets SET is_primary = (id = ?) WHERE parent_id = ?", id, parent.String)
	return toolapi.SetPrimaryVariant{AssetID: id, IsPrimary: true, Status: status}, err
}
