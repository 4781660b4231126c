import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { presentedCredentials } from '../../../platform/auth/credentials/bearer.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { covers, type Scope, scopeOfOrganization } from '../../../platform/auth/access/scope.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import { WaitingCallers } from '../../../platform/wake/waiting-callers.js';
import { WaiterSlots } from '../../../platform/wake/waiter-slots.js';
import { Waiters } from '../../../platform/wake/waiters.js';
import { OrganizationsQuery } from '../../organizations/organizations.query.js';
import { type EventPosition, isAfter, parsePosition } from './hitl-event.js';
import type { EventsQuery } from './hitl-events.dto.js';
import { HitlEventsFeed } from './hitl-events-feed.service.js';
import { HitlEventsQuery } from './hitl-events.query.js';
import { HitlEventsStream } from './hitl-events-stream.js';

const BEAT_EVERY_MS = 15_000;
const PAGE = 200;
/** A client that has missed more events than this loads its list anew, which is shorter. */
const REPLAYED_AT_MOST = 10_000;

/** Opens event streams: first the missed events, then the new ones, without a gap and none twice. */
@Injectable()
export class HitlEventsService {
  private readonly open = new Set<HitlEventsStream>();

  constructor(
    private readonly feed: HitlEventsFeed,
    private readonly events: HitlEventsQuery,
    private readonly organizations: OrganizationsQuery,
    private readonly slots: WaiterSlots,
    private readonly callers: WaitingCallers,
    private readonly waiters: Waiters,
  ) {
    waiters.atRelease(() => this.open.forEach((stream) => stream.end()));
  }

  /**
   * Resolves once the stream is open; it goes on until the client, the server or the credential ends.
   *
   * @throws Problem VALIDATION_FAILED, NOT_FOUND, RATE_LIMITED, UNAVAILABLE
   */
  async stream(request: Request, response: Response, query: EventsQuery, caller: Caller): Promise<void> {
    const from = lastEventId(request, query);
    const scope = await this.scopeOf(query, caller);
    if (this.waiters.isClosing) throw new Problem('UNAVAILABLE', 'The server is about to end.');
    // A client that has left already sends no second `close`.
    if (response.closed) return;
    const giveBack = this.slots.take(caller.actorId);
    if (!giveBack) {
      throw new Problem('RATE_LIMITED', 'This principal holds as many calls here as it may.', { headers: { 'Retry-After': '15' } });
    }
    const stream = new HitlEventsStream(response, (event) => covers(scope, event));
    const registration = this.callers.register(caller, () => stream.end(), presentedCredentials(request));
    const beat = setInterval(() => stream.heartbeat(this.feed.position), BEAT_EVERY_MS);
    const over = () => {
      if (!this.open.delete(stream)) return;
      clearInterval(beat);
      this.feed.leave(stream);
      registration.release();
      giveBack();
    };
    response.once('close', over);
    this.open.add(stream);
    try {
      const start = await this.feed.join(stream);
      const reset = from && (await this.whyReset(from));
      stream.begin();
      if (stream.isOver) return;
      if (request.method === 'HEAD') return stream.end();
      if (!from) stream.sendPosition(start);
      else if (reset) stream.reset(start, reset);
      else await this.replay(stream, scope, from, start);
      stream.goLive();
    } catch (error) {
      if (!response.headersSent) {
        over();
        throw error;
      }
      // The client reconnects, and begins at its last id.
      stream.end();
    }
  }

  private async scopeOf({ organizationId }: EventsQuery, { scope }: Caller): Promise<Scope> {
    if (organizationId === undefined) return scope;
    const chosen = await this.organizations.choose(scope, organizationId);
    return scope.agentId === undefined ? scopeOfOrganization(chosen) : scope;
  }

  /** An id that this database cannot know comes from before a backup was restored, or from elsewhere. */
  private async whyReset(from: EventPosition): Promise<'too_old' | 'unknown' | undefined> {
    const { keptFrom, ahead } = await this.events.range();
    if (keptFrom && isAfter(keptFrom, from)) return 'too_old';
    return isAfter(from, ahead) ? 'unknown' : undefined;
  }

  private async replay(stream: HitlEventsStream, scope: Scope, from: EventPosition, upTo: EventPosition): Promise<void> {
    stream.setPosition(from);
    let position = from;
    for (let sent = 0; sent < REPLAYED_AT_MOST; sent += PAGE) {
      const page = await this.events.between(scope, position, upTo, PAGE);
      stream.replay(page);
      await stream.drained();
      if (stream.isOver || page.length < PAGE) return;
      position = page.at(-1)!.position;
    }
    stream.reset(upTo, 'too_many');
  }
}

/** The browser's own header comes first: the parameter, for clients that cannot set the header, is repeated by each reconnect. */
function lastEventId(request: Request, { lastEventId: parameter }: EventsQuery): EventPosition | undefined {
  const header = request.headers['last-event-id'];
  if (header !== undefined && header !== '') return parsePosition(String(header), 'Last-Event-ID');
  return parameter === undefined ? undefined : parsePosition(parameter, '?lastEventId');
}
