package client

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/pages-toolchain/pages/toolapi"
)

// This file calls the endpoints of uploads, preview links and revisions, which are not tools and
// refuse by status (platform document, section 7.3).

// storeTime is the time that finalize may take to make blobs durable before it responds.
const storeTime = 2 * time.Minute

// Declare sends the list of a bundle's files, and returns the blobs to send. Declaring the same bundle again returns the same upload.
func (c *Client) Declare(ctx context.Context, args toolapi.DeclareArgs) (toolapi.Upload, error) {
	text, err := args.Encode()
	if err != nil {
		return toolapi.Upload{}, err
	}
	return postText[toolapi.Upload](ctx, c, toolapi.UploadsPath, text, 0)
}

// Upload returns the state of an upload.
func (c *Client) Upload(ctx context.Context, id string) (toolapi.Upload, error) {
	return get[toolapi.Upload](ctx, c, toolapi.UploadPath(id), nil, c.blobs)
}

// Blob is one blob to send.
type Blob struct {
	Upload, SHA256 string
	Name           string // for a person, such as a path
	Size           int64
	Open           func() (io.ReadCloser, error) // opens the bytes again for each attempt
	Since          func() time.Time              // the time at which a blob was last stored: the retry time starts there
	Retrying       func()                        // called for every try that will be repeated
}

// PutBlob sends a blob; an existing blob is not an error. Errors of Open and its reader become a
// *BodyError.
func (c *Client) PutBlob(ctx context.Context, b Blob) error {
	_, err := c.send(ctx, request{
		method: http.MethodPut, path: toolapi.BlobPath(b.Upload, b.SHA256),
		header: http.Header{"Content-Type": {"application/octet-stream"}},
		body:   b.Open, size: b.Size, safe: true, upload: true, window: c.blobs, since: b.Since, retrying: b.Retrying, sent: b.Name,
	})
	return err
}

// Finalize makes a revision of a complete upload. A repeated call returns the same revision.
func (c *Client) Finalize(ctx context.Context, id string) (toolapi.Finalized, error) {
	return post[toolapi.Finalized](ctx, c, toolapi.FinalizePath(id), struct{}{}, storeTime)
}

// CancelUpload cancels an upload. An unknown upload is not an error.
func (c *Client) CancelUpload(ctx context.Context, id string) error {
	err := c.EndUpload(ctx, id)
	if refused, ok := errors.AsType[*StatusError](err); ok && refused.Status == http.StatusNotFound {
		return nil
	}
	return err
}

// EndUpload is CancelUpload with a *StatusError for an unknown upload.
func (c *Client) EndUpload(ctx context.Context, id string) error {
	return c.remove(ctx, toolapi.UploadPath(id))
}

// Uploads lists the uploads of a site that are not finalized.
func (c *Client) Uploads(ctx context.Context, workspace, site string) (toolapi.UploadList, error) {
	return get[toolapi.UploadList](ctx, c, toolapi.UploadsPath, siteQuery(workspace, site), c.tools)
}

func siteQuery(workspace, site string) url.Values {
	query := url.Values{"site_id": {site}}
	if workspace != "" {
		query.Set("workspace", workspace)
	}
	return query
}

// CreatePreviewLink makes a link to a revision. The service shows its URL only once.
func (c *Client) CreatePreviewLink(ctx context.Context, args toolapi.PreviewLinkArgs) (toolapi.PreviewLink, error) {
	return post[toolapi.PreviewLink](ctx, c, toolapi.PreviewLinksPath, args, 0)
}

// DeployPreview shows a revision in a named preview. Its migrations run before the response. A repeated call has the same
// effect.
func (c *Client) DeployPreview(ctx context.Context, args toolapi.NamedPreviewArgs) (result toolapi.DeployedPreview, err error) {
	text, err := json.Marshal(args)
	if err != nil {
		return result, err
	}
	return decode[toolapi.DeployedPreview](c, toolapi.PreviewsPath)(c.send(ctx, request{
		method: http.MethodPost, path: toolapi.PreviewsPath, body: jsonBody(text), size: int64(len(text)), safe: true, upload: true,
		window: c.tools, work: migrationTime, sent: toolapi.PreviewsPath, header: http.Header{"Content-Type": {"application/json"}},
	}))
}

// Previews lists the previews of a site.
func (c *Client) Previews(ctx context.Context, workspace, site string) (toolapi.PreviewList, error) {
	return get[toolapi.PreviewList](ctx, c, toolapi.PreviewsPath, siteQuery(workspace, site), c.tools)
}

// RevokePreviewLink ends a link, or removes a preview with a name, by its id.
func (c *Client) RevokePreviewLink(ctx context.Context, id string) error {
	return c.remove(ctx, toolapi.PreviewLinkPath(id))
}

// Revision returns the contents of a revision of a site.
func (c *Client) Revision(ctx context.Context, workspace, site, revision string) (toolapi.Revision, error) {
	return get[toolapi.Revision](ctx, c, toolapi.RevisionPath(revision), siteQuery(workspace, site), c.blobs)
}

// post sends a JSON body with a fresh idempotency key, so that retries are safe.
func post[R any](ctx context.Context, c *Client, path string, args any, work time.Duration) (result R, err error) {
	text, err := json.Marshal(args)
	if err != nil {
		return result, err
	}
	return postText[R](ctx, c, path, text, work)
}

func postText[R any](ctx context.Context, c *Client, path string, text []byte, work time.Duration) (R, error) {
	return decode[R](c, path)(c.send(ctx, request{
		method: http.MethodPost, path: path, body: jsonBody(text), size: int64(len(text)), safe: true, upload: true,
		window: c.tools, work: work, sent: path,
		header: http.Header{"Content-Type": {"application/json"}, toolapi.HeaderIdempotencyKey: {newID()}},
	}))
}

func get[R any](ctx context.Context, c *Client, path string, query url.Values, w *window) (R, error) {
	return decode[R](c, path)(c.send(ctx, request{
		method: http.MethodGet, path: path, query: query, safe: true, upload: true, window: w, sent: path,
	}))
}

func (c *Client) remove(ctx context.Context, path string) error {
	a, err := c.send(ctx, request{method: http.MethodDelete, path: path, safe: true, window: c.tools, sent: path})
	if err == nil && a.status != http.StatusNoContent {
		return &ContractError{a.status, "does not confirm the removal", a.id}
	}
	return err
}

func decode[R any](c *Client, path string) func(httpResponse, error) (R, error) {
	return func(a httpResponse, err error) (result R, _ error) {
		if err != nil {
			return result, err
		}
		body, err := c.result(path, a)
		if err != nil {
			return result, err
		}
		if err := json.Unmarshal(body.Body, &result); err != nil {
			return result, &ContractError{a.status, "is not a result of this address", a.id}
		}
		return result, requireProperty(a, toolapi.Lacks[R](body.Body))
	}
}
