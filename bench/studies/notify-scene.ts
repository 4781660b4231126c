// Forty organizations with a receiver of webhooks each, an agent in each that asks, and somebody who is asked.
import { createHash, randomBytes } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Pool } from 'undici';
import { newId } from '../../src/domain/ids.js';
import { post } from '../callers.js';
import { bodyOf } from '../figures.js';
import { atFixedMoments, percentile, startOpenLoop } from '../load/open-loop.js';
import { NodeProcess } from '../processes.js';
import type { StudyContext } from '../study.js';

export const RECEIVERS = 40;
export const CALLS_PER_SECOND = 500;
export const REQUESTS_PER_SECOND = 50;
const CAPABILITY = 'email.send';
const SECRET = `whsec_${randomBytes(24).toString('base64')}`;
const LATEST_MS = 60_000;

/** One stretch of calls of the gate beside requests. */
export interface Stretch {
  readonly gateP99: number;
  readonly gatePerSecond: number;
  /** Milliseconds from a request's commit until its webhook is received; of receivers that answer. */
  readonly p50: number;
  readonly p95: number;
}

export class NotifyScene {
  private readonly organizations: string[] = [];
  private readonly tokens: string[] = [];

  private constructor(
    private readonly context: StudyContext,
    private readonly receiver: NodeProcess,
    readonly receiverUrl: string,
  ) {}

  static async open(context: StudyContext, progress: (share: number) => void): Promise<NotifyScene> {
    const script = fileURLToPath(new URL('../load/hooks-receiver.js', import.meta.url));
    const receiver = NodeProcess.spawn({ script, flags: [], env: {}, logFile: `${context.workFolder}/hooks.log` });
    const { port } = await receiver.firstMessage<{ port: number }>();
    const scene = new NotifyScene(context, receiver, `http://127.0.0.1:${port}`);
    for (let n = 0; n < RECEIVERS; n++) {
      await scene.add(n);
      progress((n + 1) / RECEIVERS);
    }
    return scene;
  }

  async close(): Promise<void> {
    await this.receiver.stop();
  }

  get first(): string {
    return this.organizations[0]!;
  }

  /** The agent of the first organization. */
  get firstToken(): string {
    return this.tokens[0]!;
  }

  async hang(below: number): Promise<void> {
    await fetch(`${this.receiverUrl}/hang?below=${below}`);
  }

  /** Sets a channel of an organization, by root. */
  async set(organizationId: string, channel: string, enabled: boolean, settings: object): Promise<void> {
    const { url, rootKey } = this.context.stage.governed;
    const response = await fetch(`${url}/api/v1/notifications/config/${channel}?organizationId=${organizationId}`, {
      method: 'PUT', headers: { authorization: `Bearer ${rootKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ enabled, settings }),
    });
    if (response.status !== 200) throw new Error(`PUT ${channel} answered ${response.status}: ${await response.text()}`);
  }

  webhook(n: number): object {
    return { url: `${this.receiverUrl}/hook/${n}`, secret: SECRET };
  }

  /** Calls of the gate, and requests beside them, for so long. */
  async stretch(seconds: number): Promise<Stretch> {
    const { stage, workFolder, tokens } = this.context;
    await this.arrived();
    const load = startOpenLoop(workFolder, {
      url: `${stage.governed.url}/api/v1/execute`, tokens, body: bodyOf('web.search'), perSecond: CALLS_PER_SECOND, seconds: seconds + 2,
    });
    const pool = new Pool(stage.governed.url);
    await load.steady;
    const asked: string[] = [];
    await atFixedMoments(REQUESTS_PER_SECOND, seconds, async (n) => {
      const token = this.tokens[n % RECEIVERS]!;
      const { statusCode, body } = await pool.request({
        method: 'POST', path: '/api/v1/execute', headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
        body: bodyOf(CAPABILITY),
      });
      const answer = (await body.json()) as { hitlRequestId: string };
      if (statusCode !== 202) throw new Error(`notify: a request was answered ${statusCode}`);
      asked.push(answer.hitlRequestId);
    });
    const { p99, perSecond } = await load.result;
    await pool.destroy();
    const took = await this.latenciesOf(asked);
    return { gateP99: p99, gatePerSecond: perSecond, p50: percentile(took, 0.5), p95: percentile(took, 0.95) };
  }

  /** Ends what waits, so that the next stretch begins without it. */
  async clear(): Promise<void> {
    const { database } = this.context.stage;
    await database.query(`delete from outbox where kind = 'notification.send'`);
    await database.query('delete from notification_deliveries');
    await database.query('delete from notifications');
  }

  async waiting(): Promise<number> {
    const { rows } = await this.context.stage.database.query<{ n: number }>(
      `select (select count(*) from notification_deliveries where state = 'waiting')::integer
         + (select count(*) from outbox where kind = 'notification.send')::integer as n`);
    return rows[0]!.n;
  }

  async arrived(): Promise<[string, number][]> {
    return (await (await fetch(`${this.receiverUrl}/arrived`)).json()) as [string, number][];
  }

  /** Sorted; of requests whose receivers hang there is none. */
  private async latenciesOf(asked: readonly string[]): Promise<number[]> {
    const { rows } = await this.context.stage.database.query<{ id: string; at: Date; receiver: string }>(
      `select q.id, q.created_at as at, q.organization_id as receiver from hitl_requests q where q.id = any ($1)`, [asked]);
    const arrivals = new Map<string, number>();
    // A tenth of the receivers, the first, may hang: their requests are not waited for.
    const wanted = asked.filter((_, n) => n % RECEIVERS >= RECEIVERS / 10).length;
    for (const end = Date.now() + LATEST_MS; Date.now() < end; await delay(100)) {
      for (const [about, at] of await this.arrived()) arrivals.set(about, Math.min(at, arrivals.get(about) ?? Infinity));
      if (arrivals.size >= wanted) break;
    }
    await delay(300);
    for (const [about, at] of await this.arrived()) arrivals.set(about, Math.min(at, arrivals.get(about) ?? Infinity));
    if (arrivals.size < wanted) throw new Error(`notify: only ${arrivals.size} of ${asked.length} webhooks were received`);
    return rows.flatMap(({ id, at }) => (arrivals.has(id) ? [arrivals.get(id)! - at.getTime()] : [])).sort((a, b) => a - b);
  }

  private async add(n: number): Promise<void> {
    const { stage } = this.context;
    const { organization } = await post<{ organization: { id: string } }>(stage, '/api/v1/organizations', { name: `receiver ${n}` });
    this.organizations.push(organization.id);
    const { token } = await post<{ token: string }>(stage, '/api/v1/agents', {
      name: `asker ${n}`, organizationId: organization.id, grants: [{ capability: CAPABILITY }],
    });
    this.tokens.push(token);
    await this.set(organization.id, 'webhook', true, this.webhook(n));
    const user = newId('usr');
    await stage.database.query(
      `insert into users (organization_id, id, email, email_folded, email_since, name, role, role_since, status, created_at, updated_at)
       values ($1, $2, $3, $3, now(), 'Admin', 'admin', now(), 'active', now(), now())`,
      [organization.id, user, `${createHash('sha1').update(user).digest('hex').slice(0, 12)}@example.test`]);
  }
}
