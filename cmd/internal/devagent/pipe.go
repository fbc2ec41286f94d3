package devagent

import (
	"context"
	"errors"
	"io"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// pipe is a transport whose end waits until each request has its response: the SDK alone would drop those that still run.
type pipe struct {
	mcp.IOTransport

	conn *patientConn // after Connect
}

// Connect implements mcp.Transport.
func (p *pipe) Connect(ctx context.Context) (mcp.Connection, error) {
	inner, err := p.IOTransport.Connect(ctx)
	if err != nil {
		return nil, err
	}
	p.conn = &patientConn{Connection: inner, open: map[any]bool{}, answered: make(chan struct{}, 1)}
	return p.conn, nil
}

// patientConn is the connection of a pipe.
type patientConn struct {
	mcp.Connection

	mu       sync.Mutex
	open     map[any]bool // ids of requests without a response
	ended    bool         // the agent has closed its end
	answered chan struct{}
}

// Read implements mcp.Connection.
func (c *patientConn) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		c.mu.Lock()
		c.open[request.ID.Raw()] = true
		c.mu.Unlock()
	}
	if errors.Is(err, io.EOF) {
		c.finish(ctx)
	}
	return message, err
}

// finish waits for the last response.
func (c *patientConn) finish(ctx context.Context) {
	for {
		c.mu.Lock()
		c.ended = true
		left := len(c.open)
		c.mu.Unlock()
		if left == 0 {
			return
		}
		select {
		case <-c.answered:
		case <-ctx.Done():
			return
		}
	}
}

// Write implements mcp.Connection.
func (c *patientConn) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if response, ok := message.(*jsonrpc.Response); ok {
		c.mu.Lock()
		delete(c.open, response.ID.Raw())
		c.mu.Unlock()
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
	return err
}

// hasEnded reports whether the agent closed its end, as agents do to stop a server.
func (p *pipe) hasEnded() bool {
	if p.conn == nil {
		return false
	}
	p.conn.mu.Lock()
	defer p.conn.mu.Unlock()
	return p.conn.ended
}
