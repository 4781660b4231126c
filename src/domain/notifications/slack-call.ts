import { createHmac, timingSafeEqual } from 'node:crypto';
import { isId } from '../ids.js';
import { isJsonObject, type JsonObject, type JsonValue, readJson } from '../json.js';
import { cut } from './plain-text.js';
import { SLACK_ACTIONS, type SlackButtonValue } from './slack-message.js';

/** How far Slack's clock and ours may be apart, and how old a call may be, in seconds (Slack, "Verifying requests"). */
export const SLACK_CALL_SECONDS = 300;
const SIGNATURE = /^v0=[0-9a-f]{64}$/;
const TIMESTAMP = /^[0-9]{1,12}$/;
const SLACK_ID = /^[A-Za-z0-9]{1,40}$/;
const DIGEST = /^[0-9a-f]{64}$/;

/** The headers of a call that Slack signs. */
export interface SlackSignature {
  readonly signature: string;
  readonly timestamp: string;
}

/**
 * Whether Slack signed these bytes with this secret, a moment ago. In the time of the comparison nothing of the right signature shows.
 *
 * @param body the body as it came
 * @param now milliseconds
 */
export function isSignedBySlack(secret: string, { signature, timestamp }: SlackSignature, body: Uint8Array, now: number): boolean {
  if (!SIGNATURE.test(signature) || !TIMESTAMP.test(timestamp)) return false;
  if (Math.abs(now / 1_000 - Number(timestamp)) > SLACK_CALL_SECONDS) return false;
  const wanted = createHmac('sha256', secret).update(`v0:${timestamp}:`).update(body).digest();
  return timingSafeEqual(wanted, Buffer.from(signature.slice(3), 'hex'));
}

/** What was pressed: a button that decides a request as it was shown, or a link, which comes back too and decides nothing. */
export type SlackPress =
  | { readonly kind: 'link' }
  | {
      readonly kind: 'decision';
      readonly word: 'approve' | 'reject';
      readonly requestId: string;
      readonly digest: string;
      /** The workspace that the person belongs to, and who they are there. */
      readonly workspace: string;
      readonly chatUser: string;
      /** As Slack calls both; of no weight. */
      readonly workspaceName: string;
      readonly userName: string;
      /** Where the press may be answered later. */
      readonly responseUrl: string | undefined;
    };

/** @returns undefined for what no message of ours can have sent */
export function readSlackPress(payload: JsonValue): SlackPress | undefined {
  if (!isJsonObject(payload) || payload['type'] !== 'block_actions') return undefined;
  const actions = payload['actions'];
  const action = Array.isArray(actions) && actions.length === 1 ? members(actions[0]) : {};
  const id = action['action_id'];
  if (id === SLACK_ACTIONS.openApprove || id === SLACK_ACTIONS.openReject || id === OPEN_LINK) return { kind: 'link' };
  const word = id === SLACK_ACTIONS.approve ? 'approve' : id === SLACK_ACTIONS.reject ? 'reject' : undefined;
  const value = readValue(action['value']);
  const [user, team] = [members(payload['user']), members(payload['team'])];
  const workspace = idOf(user['team_id']) ?? idOf(team['id']);
  const chatUser = idOf(user['id']);
  if (word === undefined || value === undefined || workspace === undefined || chatUser === undefined) return undefined;
  const responseUrl = payload['response_url'];
  return {
    kind: 'decision', word, requestId: value.request, digest: value.digest, workspace, chatUser,
    workspaceName: shortText(team['domain']) ?? workspace, userName: shortText(user['username']) ?? shortText(user['name']) ?? chatUser,
    responseUrl: typeof responseUrl === 'string' ? responseUrl : undefined,
  };
}

/** By which the link to the page of linking comes back. */
export const OPEN_LINK = 'open_link';

function readValue(value: JsonValue | undefined): SlackButtonValue | undefined {
  const { request, digest } = typeof value === 'string' && value.length <= 2_000 ? members(readJson(value)) : {};
  return isId('hitl', request) && typeof digest === 'string' && DIGEST.test(digest) ? { request, digest } : undefined;
}

const members = (value: JsonValue | undefined): JsonObject => (value !== undefined && isJsonObject(value) ? value : {});

function idOf(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && SLACK_ID.test(value) ? value : undefined;
}

function shortText(value: JsonValue | undefined): string | undefined {
  return typeof value === 'string' && value !== '' ? cut(value, 80) : undefined;
}
