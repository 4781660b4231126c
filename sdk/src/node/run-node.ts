import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { Connection, type ConnectionOptions } from '../connection.js';
import { called, checkOptions, CountersignError, isCountersignError, isTrouble, messageOf } from '../errors.js';
import { backoffMs } from '../http/backoff.js';
import { bodyText } from '../json.js';
import type { StartedWorkReply, WorkResultDto } from '../wire.js';
import { Journal, type WorkResult } from './journal.js';
import { KeptToken } from './kept-token.js';

/** What the gate let through, to be done once: `idempotencyKey` is for receivers that do nothing twice under one. */
export type Work = StartedWorkReply;

/** Does one piece of work. What it returns is the output, any JSON value; what it throws, the failure. */
export type Handler = (input: Readonly<Record<string, unknown>>, work: Work, signal: AbortSignal) => unknown;

export interface NodeOptions extends Omit<ConnectionOptions, 'credential'> {
  /**
   * A key or a token of the agent; or a setup token, which is good once: what it is exchanged for is kept beside the journal, and serves
   * the next start with the same setup token, or with ''.
   */
  readonly credential: string;
  /** By capability; `*` does what no other one does. Work without a handler fails. */
  readonly handlers: Readonly<Record<string, Handler>>;
  /** The file that keeps what the node is at, so that after a crash nothing is done twice and no result is lost. Beside it: `….token`. */
  readonly journal: string;
  /** Names the machine. Default: its host name. */
  readonly nodeId?: string;
  /** Shown of the agent as `nodeVersion`. */
  readonly version?: string;
  /** Ends the node; work that has begun is finished and told first. */
  readonly signal?: AbortSignal;
  /** Told of a result that the service refuses for good; it is told that the work has failed. Default: `console.error`. */
  readonly onResultRefused?: (error: CountersignError) => void;
  /** Told in a line each what happens. Default: nobody is. */
  readonly onLog?: (line: string) => void;
}

const SETUP = 'svc_setup_';
const LONG_POLL_SECONDS = 50;
const POLL_MS = 75_000;
const RESULT_PAUSE_MS = 200;
/** The code of work whose result could not be taken. */
const RESULT_REFUSED = 'RESULT_REFUSED';

/**
 * Runs a node of an agent (docs/nodes.md): polls for its work, does it by the handlers, one piece at a time, and says what came of it until
 * somebody has taken that. Resolves when the signal ends it.
 * @throws CountersignError for a credential that the service refuses, and for options that cannot be used
 */
export async function runNode(options: NodeOptions): Promise<void> {
  checkOptions(options ?? null, 'runNode', 'url credential handlers journal nodeId version signal onResultRefused onLog timeoutMs '
    + 'maxResponseBytes fetch onCapabilities onToken');
  const wrong = typeof options.credential !== 'string' ? 'credential: a key, token or setup token of the agent (svc_setup_…) as text'
    : typeof options.journal !== 'string' || options.journal === '' ? 'journal: the path of a file'
      : typeof options.handlers !== 'object' || options.handlers === null ? 'handlers: functions by capability' : undefined;
  if (wrong !== undefined) throw new CountersignError('INVALID_OPTIONS', { detail: `runNode needs ${wrong}.` });
  const node = new Node(await connected(options), options);
  await node.settleJournal();
  await node.work();
}

async function connected({ credential, journal, nodeId, onLog, ...options }: NodeOptions): Promise<Connection> {
  const { url, timeoutMs, maxResponseBytes, fetch, onCapabilities } = options;
  const connection = { url, timeoutMs, maxResponseBytes, fetch };
  const isSetup = credential.startsWith(SETUP);
  if (!isSetup && credential !== '') return new Connection({ ...connection, credential, onToken: options.onToken, onCapabilities });
  const kept = await KeptToken.of(`${journal}.token`, credential);
  let token = kept.read();
  if (token === undefined && !isSetup) {
    const detail = `No token is kept in ${journal}.token: runNode needs a setup token (svc_setup_…), or a key of the agent, as credential.`;
    throw new CountersignError('INVALID_OPTIONS', { detail });
  }
  if (token === undefined) {
    // Before the setup token is spent: what it gives can be kept.
    kept.write('');
    token = await activated(credential, nodeId ?? hostname(), new Connection({ ...connection, credential: { session: true } }));
    kept.write(token);
  }
  const onToken = (renewed: string) => {
    kept.write(renewed);
    return options.onToken?.(renewed);
  };
  const log: typeof onCapabilities = ({ added, removed }) =>
    onLog?.(`capabilities: ${[...added.map((name) => `+${name}`), ...removed.map((name) => `-${name}`)].join(' ')}`);
  return new Connection({ ...connection, credential: token, onToken, onCapabilities: onCapabilities ?? log });
}

/** The setup token is the credential: without another one. */
async function activated(setupToken: string, nodeId: string, anonymous: Connection): Promise<string> {
  const { token } = await anonymous.request('POST /api/v1/node/activate', { body: { token: setupToken, nodeId } });
  if (token === null) throw new CountersignError('BAD_RESPONSE', { detail: 'The activation was answered without a token.' });
  return token;
}

class Node {
  readonly #journal: Journal;
  /** Whether the service has seen it: before that it gives it no work. */
  #isSeen = false;

  constructor(private readonly connection: Connection, private readonly options: NodeOptions) {
    this.#journal = new Journal(options.journal);
  }

  /** After a restart: results that nobody has taken are told again; what was begun without one, nobody knows. */
  async settleJournal(): Promise<void> {
    const lost: WorkResult = { status: 'indeterminate', error: { message: 'The node was restarted while it was at it.' } };
    for (const { id, fence, result } of this.#journal.open()) await this.#settle(id, fence, result ?? lost);
    this.#journal.clear();
  }

  async work(): Promise<void> {
    for (let attempt = 0; !this.options.signal?.aborted; ) {
      try {
        await this.#next();
        attempt = 0;
      } catch (error) {
        if (this.options.signal?.aborted) return;
        if (!isTrouble(error) && !lacksCapability(error)) throw error;
        this.#log(`trouble, again in a moment: ${(error as Error).message}`);
        await pause(1_000 + backoffMs(attempt++));
      }
    }
  }

  async #next(): Promise<void> {
    const { signal, version } = this.options;
    const { cancelled } = await this.connection.request('POST /api/v1/node/heartbeat', { body: { load: 0, version }, signal });
    if (!Array.isArray(cancelled)) throw new CountersignError('BAD_RESPONSE', { detail: 'The heartbeat was answered by something else.' });
    if (!this.#isSeen) this.#log(`ready at ${String(this.options.url)}`);
    this.#isSeen = true;
    if (cancelled.length > 0) this.#log(`not wanted any more: ${cancelled.join(', ')}`);
    const polled = { query: { wait: LONG_POLL_SECONDS }, signal, timeoutMs: POLL_MS };
    const leased = await this.connection.request('POST /api/v1/node/tasks/lease', polled);
    if (!leased) return;
    const { id, fence, capability } = leased.task;
    // Written down before the start: whoever finds it without a result after a crash cannot know whether it was begun.
    this.#journal.write({ id, fence, state: 'starting' });
    let work: Work;
    try {
      const call = { path: { executionId: id }, body: { fence } };
      const started = await this.connection.request('POST /api/v1/node/tasks/{executionId}/start', call);
      work = started.task;
    } catch (error) {
      // Refused, so nothing was handed out. Of any other error nobody knows whether the work was started.
      const isHandedOut = !(isRefused(error) || lacksCapability(error) || isCountersignError(error, 'RATE_LIMITED'));
      if (!isHandedOut) return this.#journal.write({ id, fence, state: 'over' });
      const message = messageOf(`The start was not answered: ${(error as Error).message}`);
      return this.#settle(id, fence, { status: 'indeterminate', error: { message } });
    }
    await this.#settle(id, fence, await this.#resultOf(capability, work));
  }

  async #resultOf(capability: string, work: Work): Promise<WorkResult> {
    try {
      const { handlers } = this.options;
      const handler = Object.hasOwn(handlers, capability) ? handlers[capability] : handlers['*'];
      if (handler === undefined) throw new Error(`This node has no handler for ${capability}.`);
      const late = AbortSignal.timeout(Math.max(0, Date.parse(work.deadline) - Date.now()));
      return { status: 'executed', output: await handler(work.input, work, late) ?? null };
    } catch (error) {
      return { status: 'failed', error: { message: messageOf(error) } };
    }
  }

  /** Tells a result until somebody has taken it, or says for good that nobody does. It is written down before. */
  async #settle(id: string, fence: number, result: WorkResult): Promise<void> {
    try {
      // A journal would change it without a word.
      bodyText({ ...result });
    } catch (error) {
      return this.#settleUnusable(id, fence, result, error as CountersignError);
    }
    this.#journal.write({ id, fence, state: 'done', result });
    for (let attempt = 0; ; attempt++) {
      try {
        const body: WorkResultDto = { fence, ...result };
        const { late } = await this.connection.request('POST /api/v1/node/tasks/{executionId}/result', { path: { executionId: id }, body });
        this.#log(`${id}: ${result.status}${late ? ', too late' : ''}`);
        return this.#journal.write({ id, fence, state: 'over' });
      } catch (error) {
        if (isRefused(error)) {
          this.#log(`${id}: nobody waits for this result: ${(error as Error).message}`);
          return this.#journal.write({ id, fence, state: 'over' });
        }
        if (isUnusable(error)) return this.#settleUnusable(id, fence, result, error);
        if (!isTrouble(error) && !lacksCapability(error)) throw error;
        await pause(RESULT_PAUSE_MS + backoffMs(attempt));
      }
    }
  }

  /** What is too long, or no JSON that the service takes, is refused again however often it is told. Somebody has to know that it ended. */
  async #settleUnusable(id: string, fence: number, { status, error: reported }: WorkResult, error: CountersignError): Promise<void> {
    const report = this.options.onResultRefused ?? console.error;
    if (reported?.code === RESULT_REFUSED) this.#journal.write({ id, fence, state: 'over' });
    else {
      const message = messageOf(`The node said "${status}", and its result was refused: ${error.message}`);
      const instead = status === 'indeterminate' ? status : 'failed';
      await this.#settle(id, fence, { status: instead, error: { code: RESULT_REFUSED, message } });
    }
    await called('onResultRefused', () => report(error.with({ executionId: id })));
  }

  #log(line: string): void {
    this.options.onLog?.(line);
  }
}

const isRefused = (error: unknown): boolean => error instanceof CountersignError && (error.status === 404 || error.status === 409);

/** By the service, or by the client before it was sent. */
const isUnusable = (error: unknown): error is CountersignError =>
  error instanceof CountersignError && ([400, 413, 422].includes(error.status ?? 0) || error.code === 'VALIDATION_FAILED');

/** Though it was renewed: the grant has ended, and work of it waits for its end. */
const lacksCapability = (error: unknown): boolean => isCountersignError(error, 'CAPABILITY_NOT_IN_TOKEN');
