import type { JsonObject } from '../src/domain/json.js';
import type { Stage } from './stage.js';
import { clock, plain, wrap } from './text.js';

/** A request as `GET /api/v1/hitl/:id` shows it. */
export interface ShownRequest {
  readonly id: string;
  readonly agent_name: string;
  readonly capability: string;
  readonly hitl_mode: string;
  readonly status: string;
  readonly input: JsonObject;
  readonly action_digest: string;
  readonly reasons: readonly { readonly detail: string }[];
  readonly expires_at: string;
}

export type Choice = 'approve' | 'reject';

/** Who answers a request: the person at the keyboard, or the demo itself. */
export interface Reviewer {
  /** Settles with undefined when the time ran out before there was an answer. */
  decide(request: ShownRequest, suggested: Choice): Promise<Choice | undefined>;
}

/** The part of a terminal that is read. */
export interface Keyboard {
  setRawMode(on: boolean): unknown;
  on(event: 'data', listener: (keys: Buffer | string) => void): unknown;
  off(event: 'data', listener: (keys: Buffer | string) => void): unknown;
  resume(): unknown;
  pause(): unknown;
}

const LABEL_WIDTH = 12;
const WORDS: Record<Choice, string> = { approve: 'a ▸ approved', reject: 'r ▸ rejected' };
const CONTROL_C = '\u0003';
const CONTROL_D = '\u0004';

/** Everything that a decision is about. */
export function showRequest(stage: Stage, request: ShownRequest): void {
  const room = stage.width - 4 - LABEL_WIDTH;
  const rows: string[] = [];
  const add = (label: string, text: string, emphasis = false) => {
    wrap(text, room).forEach((row, at) => {
      const head = stage.paint('dim', (at === 0 ? label : '').padEnd(LABEL_WIDTH));
      rows.push(`${head}${emphasis ? stage.paint('bold', row) : row}`);
    });
  };
  add('who', plain(request.agent_name));
  add('wants', plain(request.capability), true);
  const members = Object.entries(request.input);
  members.forEach(([name, value], at) => add(at === 0 ? 'with' : '', `${plain(name)}: ${plain(JSON.stringify(value))}`, true));
  request.reasons.forEach(({ detail }, at) => add(at === 0 ? 'why you' : '', plain(detail)));
  add('digest', (request.action_digest.match(/.{1,32}/g) ?? []).join('\n'));
  add('time left', clock(secondsLeft(request)));
  stage.box(`a person is asked (${request.hitl_mode})`, rows, 'person');
}

export class AutomaticReviewer implements Reviewer {
  constructor(private readonly stage: Stage) {}

  async decide(_request: ShownRequest, suggested: Choice): Promise<Choice> {
    await this.stage.beat(1_100);
    this.stage.line(`${this.stage.paint('person', WORDS[suggested])} ${this.stage.paint('dim', '(by --auto)')}`);
    return suggested;
  }
}

/** Reads single keys, and shows the time that is left while it waits. */
export class PersonAtKeyboard implements Reviewer {
  constructor(
    private readonly stage: Stage,
    private readonly keyboard: Keyboard,
    private readonly signal: AbortSignal,
    private readonly interrupt: () => void,
  ) {}

  async decide(request: ShownRequest): Promise<Choice | undefined> {
    this.signal.throwIfAborted();
    this.ask(request);
    const choice = await this.key(request);
    const word = choice === undefined ? 'nobody answered in time' : WORDS[choice];
    if (this.stage.live) this.stage.clearLine();
    this.stage.line(`${this.stage.paint('person', word)}${choice === undefined ? '' : this.stage.paint('dim', ' (by you)')}`);
    return choice;
  }

  private key(request: ShownRequest): Promise<Choice | undefined> {
    const { keyboard, signal } = this;
    return new Promise((resolve, reject) => {
      const tick = setInterval(() => {
        if (secondsLeft(request) <= 0) finish(() => resolve(undefined));
        else if (this.stage.live) this.ask(request);
      }, 1_000);
      const press = (keys: Buffer | string) => {
        for (const key of keys.toString().toLowerCase()) {
          if (key === 'a') return finish(() => resolve('approve'));
          if (key === 'r') return finish(() => resolve('reject'));
          // In raw mode the terminal makes no signal of it.
          if (key === CONTROL_C || key === CONTROL_D) return this.interrupt();
        }
      };
      const aborted = () => finish(() => reject(signal.reason as Error));
      const finish = (settle: () => void) => {
        clearInterval(tick);
        keyboard.off('data', press);
        signal.removeEventListener('abort', aborted);
        keyboard.setRawMode(false);
        keyboard.pause();
        settle();
      };
      signal.addEventListener('abort', aborted, { once: true });
      keyboard.setRawMode(true);
      keyboard.on('data', press);
      keyboard.resume();
    });
  }

  private ask(request: ShownRequest): void {
    const { stage } = this;
    const choices = `${stage.paint('bold', '[a]')} approve   ${stage.paint('bold', '[r]')} reject`;
    if (stage.live) stage.rewrite(`${choices}   ${stage.paint('person', `${clock(secondsLeft(request))} left`)} `);
    else stage.line(choices);
  }
}

function secondsLeft(request: ShownRequest): number {
  return (Date.parse(request.expires_at) - Date.now()) / 1_000;
}
