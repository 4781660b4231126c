import { Problem } from '../../../platform/http/reply/problem.js';

/** The topic that wakes followers of all requests. The id of a request (`hitl_…`) is a topic too. */
export const HITL_TOPIC = 'hitl';

/** A position in the order of all events: the transaction that made one, and a number within it. */
export interface EventPosition {
  readonly txid: bigint;
  readonly n: bigint;
}

/** A change of a request, as the event stream sends it. */
export interface HitlEvent {
  readonly position: EventPosition;
  readonly organizationId: string;
  readonly agentId: string;
  /** The text that is sent. */
  readonly frame: string;
}

const POSITION = /^(0|[1-9]\d{0,19})\.(0|[1-9]\d{0,18})$/;
const TXID_MAX = 2n ** 64n - 1n;
const NUMBER_MAX = 2n ** 63n - 1n;

export const formatPosition = ({ txid, n }: EventPosition): string => `${txid}.${n}`;

export function isAfter(one: EventPosition, other: EventPosition): boolean {
  return one.txid === other.txid ? one.n > other.n : one.txid > other.txid;
}

/**
 * Parses an event's id.
 *
 * @param where the parameter or header that holds the id, for the refusal
 * @throws Problem 400
 */
export function parsePosition(text: string, where: '?lastEventId' | 'Last-Event-ID'): EventPosition {
  const [, txid, n] = POSITION.exec(text) ?? [];
  const position = { txid: BigInt(txid ?? -1), n: BigInt(n ?? -1) };
  if (position.txid >= 0n && position.txid <= TXID_MAX && position.n <= NUMBER_MAX) return position;
  const message = 'must be the id of an event of this stream';
  throw new Problem('VALIDATION_FAILED', `${where} ${message}.`, { errors: [{ pointer: where, message }] });
}

/** One event of a stream (WHATWG HTML, "Server-sent events"). Event names and JSON have no line breaks, so nothing is escaped. */
export function frameOf(id: EventPosition, event: string, data: unknown): string {
  return `id: ${formatPosition(id)}\nevent: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}

/** Sends the stream's position without an event: a client that reconnects begins there. */
export function positionFrame(id: EventPosition): string {
  return `id: ${formatPosition(id)}\n\n`;
}
