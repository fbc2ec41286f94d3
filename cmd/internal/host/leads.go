package host

import (
	"context"
	"encoding/json"
	"errors"
	"path/filepath"

	"github.com/pages-toolchain/pages/cmd/internal/localstate"
	"github.com/pages-toolchain/pages/cmd/internal/userfile"
	"github.com/pages-toolchain/pages/devserver/site"
	"github.com/pages-toolchain/pages/migrate/statefolder"
	"github.com/pages-toolchain/pages/toolapi"
	"github.com/pages-toolchain/pages/toolapi/service"
)

// Leads implements service.Host.
func (h *Host) Leads(ctx context.Context, id string, after int64, most int) (all []service.Captured, err error) {
	name := filepath.Join(h.dir, id, statefolder.PlatformFile)
	if !userfile.IsFile(name) {
		return nil, nil
	}
	db, err := localstate.OpenDatabase(ctx, name, true)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	leads, err := site.CapturedAfter(ctx, db, after, most)
	for _, l := range leads {
		fields, err := json.Marshal(l.Fields)
		if err != nil {
			return nil, err
		}
		one := service.Captured{Number: l.Number, ID: l.ID, Form: l.Form, Fields: fields, CreatedAt: l.CreatedAt.Time, Preview: l.Preview}
		for _, e := range l.Raised {
			one.Events = append(one.Events, toolapi.LeadEvent{ID: e.ID, Name: e.Name})
		}
		all = append(all, one)
	}
	return all, err
}
