import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash, randomUUID } from 'node:crypto';
import type { NextFunction, Request, RequestHandler, Response } from 'express';
import type { Logger } from 'pino';
import type { Via } from '../../../domain/audit/entry/prepare-entry.js';
import type { JsonValue } from '../../../domain/json.js';
import type { Caller } from '../../auth/access/principal.js';
import { canonicalAddress, clientAddress, trustedProxies } from './address/client-address.js';
import { forwardedByStrangers } from './address/forwarded-by-strangers.js';

/** An Idempotency-Key as the unit of work claims it: where its record stands, and what the call looked like. */
export interface ClaimedKey {
  organizationId: string;
  scope: string;
  fingerprint: string;
}

/** Who asks and from where: what the audit log stamps on every entry that this request makes. */
export interface RequestContext {
  readonly requestId: string;
  /** What entries call it where the caller chose the id: that may be anybody's name, and what an entry seals is never erased. */
  readonly requestDigest?: string;
  /** Set to `page` where the route is one. */
  via: Via;
  /** 32 hexadecimal digits of the caller's `traceparent`; where calls are traced, always there. */
  traceId?: string;
  /** The caller's header as it came, handed on to runtimes and webhooks; where calls are traced, the span of what is being done. */
  traceparent?: string;
  /** Canonical text of the client's address. */
  readonly address?: string;
  /** Set once the credential is verified. */
  caller?: Caller;
  actorId?: string;
  /** Destroyed before it was sent where the client has gone. */
  readonly response?: Response;
  /** Entries that this request has recorded so far. */
  recorded: number;
  /** Set by a handler that rightly records nothing: a replay, a dry run, a check that found nothing due. */
  recordsNothing?: boolean;
  /** The Idempotency-Key of the call, where its route takes one. */
  idempotency?: ClaimedKey;
  /** Where the key is good for each item of the call: the item's own, by what it is called and what it says. */
  itemKey?: (item: string, content: JsonValue) => ClaimedKey;
}

export const requestContext = new AsyncLocalStorage<RequestContext>();

// For what happens to a request outside of its own asynchronous context, such as the end of its answer.
const contexts = new WeakMap<object, RequestContext>();

const REQUEST_ID = /^[A-Za-z0-9_-]{8,64}$/;
const TRACEPARENT = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}(-.*)?$/;

/** The trace's id of a W3C Trace Context header (level 1, section 3.2), or undefined when the header is not valid. */
export function traceIdOf(traceparent: string | undefined): string | undefined {
  const parts = traceparent === undefined || traceparent.length > 128 ? null : TRACEPARENT.exec(traceparent);
  if (parts === null) return undefined;
  const [, version, traceId, parentId, rest] = parts;
  if (version === 'ff' || /^0+$/.test(traceId!) || /^0+$/.test(parentId!)) return undefined;
  // Later versions may append members; version 00 has exactly four.
  if (version === '00' && rest !== undefined) return undefined;
  return traceId;
}

/** Opens the context of each request. First in the pipeline: everything after it may fail, and answers with the id. */
export function openRequestContext(proxies: readonly string[], logger: Logger): RequestHandler {
  const isTrusted = trustedProxies(proxies);
  const stranger = forwardedByStrangers(logger);
  return (request: Request, response: Response, next: NextFunction) => {
    const offered = request.headers['x-request-id'];
    const chosen = typeof offered === 'string' && REQUEST_ID.test(offered) ? offered : undefined;
    const requestId = chosen ?? randomUUID();
    const forwarded = request.headers['x-forwarded-for'];
    const traceparent = request.headers['traceparent'];
    const traceId = typeof traceparent === 'string' ? traceIdOf(traceparent) : undefined;
    const peer = canonicalAddress(request.socket.remoteAddress);
    if (forwarded !== undefined && peer !== undefined && !isTrusted(peer)) stranger(peer);
    const address = clientAddress(peer, joined(forwarded), isTrusted);
    const context: RequestContext = {
      requestId,
      ...(chosen === undefined ? {} : { requestDigest: digestOf(chosen) }),
      via: 'rest',
      response,
      recorded: 0,
      ...(traceId === undefined ? {} : { traceId, traceparent: traceparent as string }),
      ...(address === undefined ? {} : { address }),
    };
    contexts.set(request, context);
    response.setHeader('X-Request-Id', requestId);
    requestContext.run(context, next);
  };
}

/** Whoever kept the id finds the entry by it. */
function digestOf(requestId: string): string {
  return createHash('sha256').update(requestId).digest('hex').slice(0, 16);
}

function joined(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(',') : header;
}

/** The context of a request. One that never reached the pipeline has none. */
export function contextOf(request: object): RequestContext | undefined {
  return contexts.get(request);
}
