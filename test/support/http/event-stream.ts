import { Agent, request } from 'node:http';
import { eventually } from '../running/eventually.js';
import type { TestServer } from '../servers/server.js';

/** One event as it came. */
export interface SeenEvent {
  readonly id: string;
  readonly event: string;
  readonly data: Readonly<Record<string, unknown>>;
}

export interface OpenStream {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly events: readonly SeenEvent[];
  /** Everything it said so far. */
  text(): string;
  /** What a browser would send when it comes back. */
  lastId(): string;
  isOver(): boolean;
  /** The server said that this is its end, as opposed to a connection that was cut. */
  isComplete(): boolean;
  /** Resolves once so many events have come that are about one of these requests, or about any. */
  has(count: number, ids?: readonly unknown[]): Promise<readonly SeenEvent[]>;
  /** Reads nothing until it is told to. */
  pause(): void;
  resume(): void;
  close(): void;
}

export interface StreamTerms {
  readonly lastEventId?: string;
  readonly query?: Readonly<Record<string, string>>;
  /** Of who comes by a session, instead of `Authorization`. */
  readonly cookie?: string;
}

/** A few of many. */
const SHOWN = 5;

function endOf(events: readonly SeenEvent[]): string {
  return `at the end ${JSON.stringify(events.slice(-SHOWN)).slice(0, 1_000)}`;
}

/** Opens `GET /hitl/events` on a connection of its own. Answers once the head has come. */
export function openEvents(server: Pick<TestServer, 'url'>, credential: string, terms: StreamTerms = {}): Promise<OpenStream> {
  const url = new URL('/api/v1/hitl/events', server.url);
  for (const [name, value] of Object.entries(terms.query ?? {})) url.searchParams.set(name, value);
  const headers = {
    ...(terms.cookie === undefined ? { authorization: `Bearer ${credential}` } : { cookie: terms.cookie }),
    ...(terms.lastEventId === undefined ? {} : { 'last-event-id': terms.lastEventId }),
  };
  return new Promise((resolve, reject) => {
    const sent = request(url, { headers, agent: new Agent() }, (response) => {
      let all = '';
      let rest = '';
      let lastId = '';
      let over = false;
      const events: SeenEvent[] = [];
      response.setEncoding('utf8');
      response.on('data', (chunk: string) => {
        all += chunk;
        const blocks = (rest + chunk).split('\n\n');
        rest = blocks.pop()!;
        for (const block of blocks) {
          const fields = fieldsOf(block);
          lastId = fields.get('id') ?? lastId;
          const data = fields.get('data');
          if (data === undefined) continue;
          events.push({ id: lastId, event: fields.get('event') ?? 'message', data: JSON.parse(data) as SeenEvent['data'] });
        }
      });
      // A connection that was cut is over too.
      response.on('error', () => undefined);
      response.on('close', () => {
        over = true;
      });
      resolve({
        status: response.statusCode ?? 0, headers: response.headers, events,
        text: () => all, lastId: () => lastId, isOver: () => over, isComplete: () => response.complete,
        has: (count, ids) => eventually(() => {
          const about = ids ? events.filter(({ data }) => ids.includes(data.id)) : events;
          const come = `${about.length} of ${count} events have come`;
          if (about.length < count) throw new Error(`${come}, ${endOf(about)}; the stream ${over ? 'is over' : 'goes on'}`);
          return about;
        }),
        pause: () => void response.pause(), resume: () => void response.resume(), close: () => void sent.destroy(),
      });
    });
    sent.once('error', reject);
    sent.end();
  });
}

/** Per the standard (WHATWG HTML, 9.2.6), as far as this service uses it. */
function fieldsOf(block: string): Map<string, string> {
  return new Map(block.split('\n').filter((line) => !line.startsWith(':')).map((line): [string, string] => {
    const colon = line.indexOf(':');
    return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')];
  }));
}
