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
/** Who has missed more than this loads the list anew: that is shorter. */
const REPLAYED_AT_MOST = 10_000;

/** Opens event streams: what was missed first, then what happens, without a gap and nothing twice. */
@Injectable()
export class HitlEventsService {
  private readonly open = new Set<HitlEventsStream>();

  constructor(
    private readonly feed: HitlEventsFeed,
    private readonly events: HitlEventsQuery,
    private readonly organizations: OrganizationsQuery,
    private readonly places: WaiterSlots,
    private readonly callers: WaitingCallers,
    private readonly waiters: Waiters,
  ) {
    waiters.atRelease(() => this.open.forEach((stream) => stream.end()));
  }

  /**
   * Resolves once the stream stands; it goes on until somebody ends it.
   *
   * @throws Problem VALIDATION_FAILED, NOT_FOUND, RATE_LIMITED, UNAVAILABLE
   */
  async stream(request: Request, response: Response, query: EventsQuery, caller: Caller): Promise<void> {
    const from = lastEventId(request, query);
    const scope = await this.scopeOf(query, caller);
    if (this.waiters.isClosing) throw new Problem('UNAVAILABLE', 'The server is about to end.');
    // Whoever has left meanwhile will not leave once more.
    if (response.closed) return;
    const giveBack = this.places.take(caller.actorId);
    if (!giveBack) {
      throw new Problem('RATE_LIMITED', 'This principal holds as many calls here as it may.', { headers: { 'Retry-After': '15' } });
    }
    const stream = new HitlEventsStream(response, (event) => covers(scope, event));
    const held = this.callers.register(caller, () => stream.end(), presentedCredentials(request));
    const beat = setInterval(() => stream.beat(this.feed.place), BEAT_EVERY_MS);
    const over = () => {
      if (!this.open.delete(stream)) return;
      clearInterval(beat);
      this.feed.leave(stream);
      held.release();
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
      if (!from) stream.tellPlace(start);
      else if (reset) stream.reset(start, reset);
      else await this.replay(stream, scope, from, start);
      stream.goLive();
    } catch (error) {
      if (!response.headersSent) {
        over();
        throw error;
      }
      // They come back, and begin where they stand.
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
    const { keptFrom, ahead } = await this.events.reach();
    if (keptFrom && isAfter(keptFrom, from)) return 'too_old';
    return isAfter(from, ahead) ? 'unknown' : undefined;
  }

  private async replay(stream: HitlEventsStream, scope: Scope, from: EventPosition, upTo: EventPosition): Promise<void> {
    stream.standsAt(from);
    let place = from;
    for (let told = 0; told < REPLAYED_AT_MOST; told += PAGE) {
      const page = await this.events.between(scope, place, upTo, PAGE);
      stream.replay(page);
      await stream.room();
      if (stream.isOver || page.length < PAGE) return;
      place = page.at(-1)!.place;
    }
    stream.reset(upTo, 'too_many');
  }
}

/** The header is the browser's own; the parameter is for who cannot set it, and gives way, since a reconnect repeats it. */
function lastEventId(request: Request, { lastEventId: parameter }: EventsQuery): EventPosition | undefined {
  const header = request.headers['last-event-id'];
  if (header !== undefined && header !== '') return parsePosition(String(header), 'Last-Event-ID');
  return parameter === undefined ? undefined : parsePosition(parameter, '?lastEventId');
}
