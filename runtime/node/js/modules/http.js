// https://nodejs.org/api/http.html: servers, which cloudflare:node brings
// requests to, and a client over the Worker's fetch.
import {
  CloseEvent,
  MessageEvent,
  METHODS,
  STATUS_CODES,
  WebSocket,
  _connectionListener,
  maxHeaderSize,
  setMaxIdleHTTPParsers,
} from "unenv/node/http";
import { Agent, globalAgent } from "node:internal/http/agent";
import { ClientRequest } from "node:internal/http/client";
import { validateHeaderName, validateHeaderValue } from "node:internal/http/headers";
import { IncomingMessage } from "node:internal/http/incoming";
import { OutgoingMessage } from "node:internal/http/outgoing";
import { ServerResponse } from "node:internal/http/response";
import { createServer, Server } from "node:internal/http/server";

export function request(url, options, listener) {
  return new ClientRequest(url, options, listener);
}

/** A request that is sent at once. */
export function get(url, options, listener) {
  return request(url, options, listener).end();
}

export {
  Agent,
  ClientRequest,
  CloseEvent,
  IncomingMessage,
  MessageEvent,
  METHODS,
  OutgoingMessage,
  STATUS_CODES,
  Server,
  ServerResponse,
  WebSocket,
  _connectionListener,
  createServer,
  globalAgent,
  maxHeaderSize,
  setMaxIdleHTTPParsers,
  validateHeaderName,
  validateHeaderValue,
};

export default {
  Agent,
  ClientRequest,
  CloseEvent,
  IncomingMessage,
  MessageEvent,
  METHODS,
  OutgoingMessage,
  STATUS_CODES,
  Server,
  ServerResponse,
  WebSocket,
  _connectionListener,
  createServer,
  get,
  globalAgent,
  maxHeaderSize,
  request,
  setMaxIdleHTTPParsers,
  validateHeaderName,
  validateHeaderValue,
};
