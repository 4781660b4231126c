import { isJsonObject, readJson } from '../../../domain/json.js';
import type { OutboundOutcome } from '../../../platform/outbound/outbound-guard.js';
import { outcomeOfPost, retry } from './post-outcome.js';
import type { SendOutcome } from './sender.js';

/** Errors of Slack's methods that no repetition mends. Any other one passes. */
const FINAL: ReadonlySet<string> = new Set([
  'invalid_auth', 'not_authed', 'account_inactive', 'token_revoked', 'token_expired', 'no_permission', 'missing_scope', 'access_denied',
  'org_login_required', 'ekm_access_denied', 'team_access_not_granted', 'two_factor_setup_required', 'channel_not_found',
  'not_in_channel', 'is_archived', 'is_inactive', 'restricted_action', 'restricted_action_read_only_channel',
  'invalid_blocks', 'invalid_blocks_format', 'msg_too_long', 'msg_blocks_too_long', 'no_text', 'invalid_arguments',
]);
/** Of a message that is to be changed: it is not there any more, or cannot be. */
const UNCHANGEABLE: ReadonlySet<string> = new Set(['message_not_found', 'cant_update_message', 'edit_window_closed']);

export type SlackAnswer =
  | { readonly kind: 'done'; readonly receipt: string }
  | { readonly kind: 'unchangeable' }
  | { readonly kind: 'not done'; readonly outcome: SendOutcome };

/** Slack's methods answer 200 also where they did nothing. Codes that are not known here are somebody's words, and kept to nobody. */
export function readSlackAnswer(exchange: OutboundOutcome): SlackAnswer {
  const outcome = outcomeOfPost(exchange);
  if (outcome.kind !== 'delivered' || exchange.kind !== 'answered') return { kind: 'not done', outcome };
  const answer = readJson(exchange.body.toString('utf8'));
  if (!isJsonObject(answer)) return { kind: 'not done', outcome: { kind: 'retry', code: 'NOT_SLACK' } };
  const { ok, error, channel, ts } = answer;
  if (ok === true && typeof channel === 'string' && typeof ts === 'string') return { kind: 'done', receipt: `${channel}:${ts}` };
  if (typeof error === 'string' && UNCHANGEABLE.has(error)) return { kind: 'unchangeable' };
  if (typeof error === 'string' && FINAL.has(error)) return { kind: 'not done', outcome: { kind: 'dead', code: error } };
  const code = error === 'ratelimited' || error === 'rate_limited' ? 'ratelimited' : 'SLACK_ERROR';
  return { kind: 'not done', outcome: retry(code, exchange.headers['retry-after']) };
}
