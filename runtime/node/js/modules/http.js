// https://nodejs.org/api/http.html: servers, which cloudflare:node brings
// requests to. The client is as the package unenv has it.
import {
  Agent, ClientRequest, CloseEvent, MessageEvent, METHODS, STATUS_CODES, WebSocket, _connectionListener, get, globalAgent, maxHeaderSize, request,
  setMaxIdleHTTPParsers,
} from "unenv/node/http";
import { validateHeaderName, validateHeaderValue } from "node:internal/http/headers";
import { IncomingMessage } from "node:internal/http/incoming";
import { OutgoingMessage } from "node:internal/http/outgoing";
import { ServerResponse } from "node:internal/http/response";
import { createServer, Server } from "node:internal/http/server";

export {
  Agent, ClientRequest, CloseEvent, IncomingMessage, MessageEvent, METHODS, OutgoingMessage, STATUS_CODES, Server, ServerResponse, WebSocket,
  _connectionListener, createServer, get, globalAgent, maxHeaderSize, request, setMaxIdleHTTPParsers, validateHeaderName, validateHeaderValue,
};

export default {
  Agent, ClientRequest, CloseEvent, IncomingMessage, MessageEvent, METHODS, OutgoingMessage, STATUS_CODES, Server, ServerResponse, WebSocket,
  _connectionListener, createServer, get, globalAgent, maxHeaderSize, request, setMaxIdleHTTPParsers, validateHeaderName, validateHeaderValue,
};
