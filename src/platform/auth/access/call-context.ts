import { randomUUID } from 'node:crypto';
import type { Request } from 'express';
import type { Origin, Via } from '../../../domain/audit/entry/prepare-entry.js';
import { requestContext, type RequestContext } from '../../http/request/request-context.js';
import type { Caller } from './principal.js';

/** The origin of an entry: how its call came in, its request, its trace and its address. */
export function currentOrigin(): Origin | undefined {
  const context = requestContext.getStore();
  if (!context) return undefined;
  const { via, traceId, address } = context;
  if (via === 'worker' || via === 'sweeper') return { via };
  return { requestId: requestIdInEntries(context), via, ...(traceId ? { traceId } : {}), ...(address ? { address } : {}) };
}

/** The server's own id of the request, or a digest of the caller's. */
export function requestIdInEntries({ requestId, requestDigest }: RequestContext): string {
  return requestDigest ?? requestId;
}

/** The verified credential behind the present call; the service itself where there is no call. */
export function currentActor(): string {
  return requestContext.getStore()?.actorId ?? 'system';
}

/**
 * From here on the present call is this caller's: units of work compare the credential again, and entries name who it was. `via`: another
 * door than the route's own.
 */
export function actAs(caller: Caller, via?: Via): void {
  const context = requestContext.getStore();
  if (context === undefined) return;
  context.caller = caller;
  context.actorId = caller.actorId;
  if (via !== undefined) context.via = via;
}

/** The trace of the present call, for what follows from it. */
export function currentTrace(): { traceparent?: string } {
  const traceparent = requestContext.getStore()?.traceparent;
  return traceparent === undefined ? {} : { traceparent };
}

/** Says that the present call rightly leaves no audit entry: a replay, a dry run, a check that found nothing due. */
export function recordsNothing(): void {
  const context = requestContext.getStore();
  if (context) context.recordsNothing = true;
}

export function addressOf(request: Request): string | undefined {
  return requestContext.getStore()?.address ?? request.socket.remoteAddress;
}

/** Runs the service's own work (sweepers, workers, first run): its entries name it as their origin, and `system` as the actor. */
export function asService<Result>(
  via: Exclude<Via, 'rest' | 'mcp' | 'page' | 'chat' | 'mail'>, work: () => Promise<Result>,
): Promise<Result> {
  return requestContext.run({ requestId: randomUUID(), via, actorId: 'system', recorded: 0 }, work);
}

/**
 * Runs what the service does by itself on a call's way in, before it is judged: the entries name the call and its address, and `system`
 * as the actor; they hang neither on the caller's credential nor on the call's idempotency key.
 */
export function asServiceOnArrival<Result>(work: () => Promise<Result>): Promise<Result> {
  const context = requestContext.getStore();
  if (context === undefined) return asService('worker', work);
  const { requestId, requestDigest, via, traceId, address } = context;
  const kept = {
    ...(requestDigest === undefined ? {} : { requestDigest }),
    ...(traceId === undefined ? {} : { traceId }),
    ...(address === undefined ? {} : { address }),
  };
  return requestContext.run({ requestId, via, ...kept, actorId: 'system', recorded: 0 }, work);
}
