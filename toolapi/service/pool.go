package service

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
)

// This file runs transactions on connections that keep their prepared statements:
// the service has a fixed set, and reading their text took longer than running
// them. database/sql keeps none for a transaction; keeping them doubled the calls a second.

// pool is connections of one kind, one transaction on each at a time.
type pool struct {
	db    *sql.DB
	begin string
	idle  chan *connection
	// noticed is told why transactions failed, before the next one begins.
	noticed func(error)
}

// connection is opened when it is first needed.
type connection struct {
	conn     *sql.Conn
	prepared map[string]*sql.Stmt
}

func newPool(dsn, begin string, size int) (*pool, error) {
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(size)
	p := &pool{db: db, begin: begin, idle: make(chan *connection, size)}
	for range size {
		p.idle <- &connection{}
	}
	return p, nil
}

// transact runs do in a transaction. It is committed when do returns no error, and
// rolled back when it does, panics, or ctx ends before.
func (p *pool) transact(ctx context.Context, do func(tx) error) (err error) {
	var c *connection
	select {
	case c = <-p.idle:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() {
		if err != nil && p.noticed != nil {
			p.noticed(err)
		}
		p.idle <- c
	}()
	if c.conn == nil {
		if c.conn, err = p.db.Conn(ctx); err != nil {
			return err
		}
		c.prepared = map[string]*sql.Stmt{}
	}
	t := tx{c, ctx}
	if err := t.exec(p.begin); err != nil {
		return errors.Join(err, c.drop()) // nobody knows whether it began
	}
	// How it ends must not be cut short.
	last := tx{c, context.WithoutCancel(ctx)}
	committed := false
	defer func() {
		if !committed && last.exec("ROLLBACK") != nil {
			err = errors.Join(err, c.drop())
		}
	}()
	if err := do(t); err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	err = last.exec("COMMIT")
	committed = err == nil
	return err
}

// statement is a query, prepared.
func (c *connection) statement(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := c.prepared[query]; ok {
		return s, nil
	}
	s, err := c.conn.PrepareContext(ctx, query)
	if err == nil {
		c.prepared[query] = s
	}
	return s, err
}

// drop gives up a connection whose transaction cannot be ended.
func (c *connection) drop() error {
	var errs []error
	for _, s := range c.prepared {
		errs = append(errs, s.Close())
	}
	err := c.conn.Raw(func(any) error { return driver.ErrBadConn })
	if errors.Is(err, driver.ErrBadConn) {
		err = nil // as was said
	}
	c.conn, c.prepared = nil, nil
	return errors.Join(append(errs, err)...)
}

// close waits for the transactions and closes the connections.
func (p *pool) close() error {
	var errs []error
	for range cap(p.idle) {
		c := <-p.idle
		for _, s := range c.prepared {
			errs = append(errs, s.Close())
		}
		if c.conn != nil {
			errs = append(errs, c.conn.Close())
		}
	}
	return errors.Join(append(errs, p.db.Close())...)
}
