import { createHmac, randomBytes } from 'node:crypto';
import type { JsonObject } from '../../../src/domain/json.js';
import { type Answer, type ReceivedRequest, startReceiver } from '../http/receiver.js';
import { blockKitFindings } from './block-kit.js';

/** A message as people in the channel see it now. */
export interface SlackMessage {
  readonly channel: string;
  /** What names it in its channel. */
  readonly ts: string;
  readonly text: string;
  readonly blocks: readonly JsonObject[];
  /** How often it was changed after it was posted. */
  readonly updates: number;
}

export interface SlackWorkspace {
  /** For SLACK_API_URL. */
  readonly apiUrl: string;
  /** For SLACK_WEBHOOK_URL. */
  readonly webhookUrl: string;
  readonly botToken: string;
  readonly signingSecret: string;
  /** The workspace's id. */
  readonly team: string;
  /** Where the bot may post. */
  readonly channel: string;
  /** `127.0.0.1:port`, as OUTBOUND_ALLOW wants it. */
  readonly destination: string;
  readonly messages: readonly SlackMessage[];
  readonly requests: readonly ReceivedRequest[];
  /** What Slack would not have taken about messages, all told. */
  readonly findings: readonly string[];
  /** Where an interaction may be answered later, and what came there: what one person alone sees, or a message in place of the old one. */
  readonly responseUrl: string;
  readonly responses: readonly JsonObject[];
  /** The next calls of the API or the webhook get these answers, whatever they say. */
  script(...answers: Answer[]): void;
  /** Headers of a call that Slack signs. */
  signed(body: string, at?: Date): Record<string, string>;
  /** The body that Slack sends when this person presses this button of this message. */
  pressed(press: SlackPress): string;
  close(): Promise<void>;
}

export interface SlackPress {
  /** The person's id in the workspace. */
  readonly user: string;
  readonly value: string;
  readonly actionId?: string;
  readonly message?: SlackMessage;
  /** Another workspace than the stand-in's own. */
  readonly team?: string;
}

const TEAM = 'T0CS1';
const CHANNEL = 'C0APPROVALS';
const BOT_TOKEN = 'xoxb-stand-in-1234567890';
export const SIGNING_SECRET = '8f742231b10e8888abcd99yyyzzz85a5';

/**
 * Speaks Slack's wire format over HTTP as far as messages need it: `chat.postMessage`, `chat.update`, an incoming webhook, and answers to
 * interactions. It takes no message that Block Kit's limits would refuse.
 */
export async function startSlack(): Promise<SlackWorkspace> {
  const receiver = await startReceiver();
  const messages: SlackMessage[] = [];
  const findings: string[] = [];
  const responses: JsonObject[] = [];
  const isSound = (message: JsonObject): boolean => {
    const found = blockKitFindings(message);
    findings.push(...found);
    return found.length === 0;
  };
  const shown = (channel: string, ts: string, { text, blocks }: JsonObject, updates: number): SlackMessage =>
    ({ channel, ts, text: text as string, blocks: (blocks ?? []) as unknown as JsonObject[], updates });
  const nextTs = (): string => `17${String(messages.length).padStart(8, '0')}.${String(messages.length + 1).padStart(6, '0')}`;

  const callApi = (method: string, request: ReceivedRequest): JsonObject => {
    const [scheme, token] = (request.headers.authorization ?? '').split(' ');
    if (scheme !== 'Bearer') return { ok: false, error: 'not_authed' };
    if (token !== BOT_TOKEN) return { ok: false, error: 'invalid_auth' };
    const body = JSON.parse(request.body) as JsonObject;
    if (body['channel'] !== CHANNEL) return { ok: false, error: 'channel_not_found' };
    if (!isSound(body)) return { ok: false, error: 'invalid_blocks', response_metadata: { messages: [...findings] } };
    const at = method === 'chat.update' ? messages.findIndex(({ ts }) => ts === body['ts']) : messages.length;
    if (at < 0) return { ok: false, error: 'message_not_found' };
    const ts = messages[at]?.ts ?? nextTs();
    messages[at] = shown(CHANNEL, ts, body, messages[at] === undefined ? 0 : messages[at].updates + 1);
    return { ok: true, channel: CHANNEL, ts };
  };

  const answer = (request: ReceivedRequest): Answer => {
    const isJson = /^application\/json\b/.test(request.headers['content-type'] ?? '');
    if (request.method !== 'POST') return { status: 405 };
    if (request.path.startsWith('/response/')) {
      responses.push(JSON.parse(request.body) as JsonObject);
      return { body: 'ok' };
    }
    if (request.path === '/services/T0CS1/B0CS1/secret-of-the-webhook') {
      const body = isJson ? (JSON.parse(request.body) as JsonObject) : {};
      if (!isSound(body)) return { status: 400, body: 'invalid_blocks' };
      messages.push(shown(CHANNEL, nextTs(), body, 0));
      return { body: 'ok' };
    }
    const method = /^\/api\/(chat\.postMessage|chat\.update)$/.exec(request.path)?.[1];
    if (method === undefined) return { status: 404, body: 'no_service' };
    return { body: isJson ? callApi(method, request) : { ok: false, error: 'invalid_form_data' } };
  };
  receiver.standing(answer);

  return {
    apiUrl: `${receiver.url}/api`,
    webhookUrl: `${receiver.url}/services/T0CS1/B0CS1/secret-of-the-webhook`,
    botToken: BOT_TOKEN,
    signingSecret: SIGNING_SECRET,
    team: TEAM,
    channel: CHANNEL,
    destination: receiver.destination,
    messages,
    requests: receiver.requests,
    findings,
    responseUrl: `${receiver.url}/response/T0CS1/1/once`,
    responses,
    script: (...answers) => receiver.script(...answers),
    signed: (body, at) => signedBySlack(SIGNING_SECRET, body, at),
    pressed: (press) => slackPress(`${receiver.url}/response/T0CS1/1/once`, press),
    close: () => receiver.close(),
  };
}

/** Headers by which a receiver knows that Slack, with this secret, sent these bytes at this time. */
export function signedBySlack(secret: string, body: string, at: Date = new Date()): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000));
  return {
    'content-type': 'application/x-www-form-urlencoded',
    'x-slack-request-timestamp': timestamp,
    'x-slack-signature': `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`,
  };
}

function slackPress(responseUrl: string, { user, value, actionId = 'approve', message, team = TEAM }: SlackPress): string {
  const ts = message?.ts ?? '1700000000.000001';
  const channel = message?.channel ?? CHANNEL;
  const payload = {
    type: 'block_actions',
    user: { id: user, username: 'somebody', name: 'somebody', team_id: team },
    api_app_id: 'A0CS1',
    token: 'deprecated-and-unused',
    container: { type: 'message', message_ts: ts, channel_id: channel, is_ephemeral: false },
    // Two presses of one button are two calls.
    trigger_id: randomBytes(12).toString('hex'),
    team: { id: team, domain: 'stand-in' },
    enterprise: null,
    is_enterprise_install: false,
    channel: { id: channel, name: 'approvals' },
    message: { type: 'message', ts, text: message?.text ?? '', blocks: message?.blocks ?? [] },
    state: { values: {} },
    response_url: responseUrl,
    actions: [{
      action_id: actionId, block_id: 'decide', text: { type: 'plain_text', text: actionId, emoji: true }, value, type: 'button',
      action_ts: `${Math.floor(Date.now() / 1000)}.000001`,
    }],
  };
  return new URLSearchParams({ payload: JSON.stringify(payload) }).toString();
}
