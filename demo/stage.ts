import { setTimeout as pause } from 'node:timers/promises';
import { boxed, visibleWidth, wrap } from './text.js';

/** Where the demo is shown. */
export interface Screen {
  write(text: string): unknown;
  readonly isTTY?: boolean;
  readonly columns?: number;
}

export type Hue = 'agent' | 'gate' | 'person' | 'shop' | 'stop' | 'chain' | 'dim' | 'bold';

const CODES: Record<Hue, string> = {
  agent: '36', gate: '1', person: '33', shop: '32', stop: '31', chain: '35', dim: '2', bold: '1',
};
const WIDEST = 84;
const NARROWEST = 50;
export const MARGIN = '  ';

/** How far a call got. */
export type Reach = 'gate' | 'person' | 'shop' | 'shop by person';

/** Writes the scenes: coloured and at a pace that a person can follow on a terminal, plain and at once in a pipe. */
export class Stage {
  readonly width: number;
  readonly live: boolean;

  constructor(
    private readonly screen: Screen,
    private readonly colour: boolean,
    private readonly signal: AbortSignal,
  ) {
    this.live = screen.isTTY === true;
    this.width = Math.max(NARROWEST, Math.min(WIDEST, screen.columns ?? 80)) - 2 * MARGIN.length;
  }

  paint(hue: Hue, text: string): string {
    return this.colour ? `\u001b[${CODES[hue]}m${text}\u001b[0m` : text;
  }

  line(text = ''): void {
    this.screen.write(`${text === '' ? '' : MARGIN}${text}\n`);
  }

  /** Running text, broken to the width. */
  say(text: string, hue?: Hue): void {
    for (const row of wrap(text, this.width)) this.line(hue ? this.paint(hue, row) : row);
  }

  /** `──── 3 · An order ────` */
  async scene(number: number, title: string): Promise<void> {
    await this.beat(700);
    const start = `── ${number} · ${title} `;
    const rest = '─'.repeat(Math.max(2, this.width - visibleWidth(start)));
    this.line();
    this.line(`${this.paint('dim', '──')} ${this.paint('bold', `${number} · ${title}`)} ${this.paint('dim', rest)}`);
    this.line();
    await this.beat(400);
  }

  box(title: string, rows: readonly string[], hue: Hue): void {
    for (const row of boxed(title, rows, this.width, (edge) => this.paint(hue, edge))) this.line(row);
  }

  /** The way of one call: agent → gate → person → shop, as far as it got, drawn step by step. */
  async track(reach: Reach, outcome: string): Promise<void> {
    const stopped = reach === 'gate' || reach === 'person';
    const arrow = (length: number) => this.paint('dim', ` ${'━'.repeat(length)}▶ `);
    const parts = [this.paint('agent', 'agent'), arrow(3), this.paint('gate', 'gate')];
    if (reach === 'person' || reach === 'shop by person') parts.push(arrow(3), this.paint('person', 'person'));
    if (reach === 'shop') parts.push(arrow(15));
    if (reach === 'shop by person') parts.push(arrow(3));
    if (!stopped) parts.push(this.paint('shop', 'world'));
    parts.push(`  ${this.paint(stopped ? 'stop' : 'shop', `${stopped ? '✘' : '✔'} ${outcome}`)}`);
    await this.draw(parts, 140);
  }

  /** A call on its way to a person, who has not answered yet. */
  async trackToPerson(outcome: string): Promise<void> {
    const arrow = this.paint('dim', ' ━━━▶ ');
    await this.draw(
      [this.paint('agent', 'agent'), arrow, this.paint('gate', 'gate'), arrow, this.paint('person', `person  … ${outcome}`)], 140,
    );
  }

  /** What follows from the line above. */
  outcome(text: string, hue: Hue = 'dim'): void {
    const [first = '', ...more] = wrap(text, this.width - 2);
    this.line(`${this.paint('dim', '╰')} ${this.paint(hue, first)}`);
    for (const row of more) this.line(`  ${this.paint(hue, row)}`);
  }

  /** What another program printed: its first line, then the rest. */
  quote(output: string, hue: Hue): void {
    const edge = this.paint('dim', '│');
    const [first = '', ...more] = output.trim().split('\n').flatMap((row) => wrap(row.trim(), this.width - 2));
    this.line(`${edge} ${this.paint(hue, first)}`);
    for (const row of more) this.line(`${edge} ${row}`.trimEnd());
  }

  /** Shows that something takes its time; the line is gone when it is done. */
  async during<Result>(what: string, work: Promise<Result>): Promise<Result> {
    if (!this.live) return work;
    const frames = ['◐', '◓', '◑', '◒'];
    let turn = 0;
    const show = () => void this.screen.write(`\r${MARGIN}${this.paint('agent', frames[turn++ % frames.length]!)} ${what}`);
    show();
    const timer = setInterval(show, 120);
    try {
      return await work;
    } finally {
      clearInterval(timer);
      this.clearLine();
    }
  }

  /** Writes over the present line of a terminal. */
  rewrite(text: string): void {
    this.screen.write(`\r\u001b[2K${MARGIN}${text}`);
  }

  clearLine(): void {
    this.screen.write('\r\u001b[2K');
  }

  /** A moment to read; none in a pipe. */
  async beat(milliseconds: number): Promise<void> {
    this.signal.throwIfAborted();
    if (this.live) await pause(milliseconds, undefined, { signal: this.signal });
  }

  private async draw(parts: readonly string[], step: number): Promise<void> {
    this.screen.write(MARGIN);
    for (const part of parts) {
      this.screen.write(part);
      await this.beat(step);
    }
    this.screen.write('\n');
  }
}
