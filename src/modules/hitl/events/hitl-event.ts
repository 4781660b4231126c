import { Problem } from '../../../platform/http/reply/problem.js';

/** Wakes whoever follows requests. Ids of requests (`hitl_…`) do too. */
export const HITL_NEWS = 'hitl';

/** A place in the order of all events: the transaction that made one, and a number within it. */
export interface EventPosition {
  readonly txid: bigint;
  readonly n: bigint;
}

/** Something that has become of a request, as its followers are told. */
export interface HitlEvent {
  readonly place: EventPosition;
  readonly organizationId: string;
  readonly agentId: string;
  /** As it goes out. */
  readonly frame: string;
}

const PLACE = /^(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,18})$/;
const TXID_MAX = 2n ** 64n - 1n;
const NUMBER_MAX = 2n ** 63n - 1n;

export const formatPosition = ({ txid, n }: EventPosition): string => `${txid}.${n}`;

export function isAfter(one: EventPosition, other: EventPosition): boolean {
  return one.txid === other.txid ? one.n > other.n : one.txid > other.txid;
}

/**
 * A place as an event's id says it.
 *
 * @param where the parameter or header it stands in, for the refusal
 * @throws Problem 400
 */
export function parsePosition(text: string, where: '?lastEventId' | 'Last-Event-ID'): EventPosition {
  const [, txid, n] = PLACE.exec(text) ?? [];
  const place = { txid: BigInt(txid ?? -1), n: BigInt(n ?? -1) };
  if (place.txid >= 0n && place.txid <= TXID_MAX && place.n <= NUMBER_MAX) return place;
  const message = 'must be the id of an event of this stream';
  throw new Problem('VALIDATION_FAILED', `${where} ${message}.`, { errors: [{ pointer: where, message }] });
}

/** One event of a stream (WHATWG HTML, "Server-sent events"). What is sent has no line breaks: it is JSON, or names of ours. */
export function frameOf(id: EventPosition, event: string, data: unknown): string {
  return `id: ${formatPosition(id)}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Says where the stream stands without an event: whoever comes back begins there. */
export function positionFrame(id: EventPosition): string {
  return `id: ${formatPosition(id)}\n\n`;
}
