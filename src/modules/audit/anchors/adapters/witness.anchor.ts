import { AnchorContradicts, type Anchor, type Anchored, type AnchoredNote, type OurTree } from '../../../../platform/audit/anchor.js';
import type { OutboundGuard } from '../../../../platform/outbound/outbound-guard.js';

const TIMEOUT_MS = 10_000;
const MAX_BYTES = 64 * 1024;
/** A witness answers with its size where ours was wrong; another server may change that size meanwhile. */
const ATTEMPTS = 3;
const SIGNATURE_LINE = /^— [^\s+]+ [A-Za-z0-9+/]+={0,2}$/;

/**
 * A witness of https://c2sp.org/tlog-witness: it cosigns a checkpoint that continues the last one that it has seen, and no other. It
 * keeps no notes to be read, and answers only to a checkpoint that it is shown; so it is asked by being given our newest one.
 */
export class WitnessAnchor implements Anchor {
  readonly answersOnlyWhenShown = true;
  private readonly url: string;

  constructor(
    readonly name: string,
    url: string,
    private readonly outbound: Pick<OutboundGuard, 'fetch'>,
  ) {
    this.url = `${url.replace(/\/+$/, '')}/add-checkpoint`;
  }

  async newest(origin: string, ours?: OurTree): Promise<Anchored | undefined> {
    if (!ours) return undefined;
    try {
      return await this.publish(origin, ours, { size: ours.newest.size });
    } catch (error) {
      if (error instanceof AnchorContradicts) return error.anchored;
      throw error;
    }
  }

  async publish(_origin: string, ours: OurTree, known?: Anchored): Promise<AnchoredNote> {
    const { newest } = ours;
    let old = Math.min(known?.size ?? 0, newest.size);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const proof = old === 0 || old === newest.size ? [] : await ours.prove(old);
      const { status, text } = await this.ask(`old ${old}\n${proof.map((hash) => `${hash}\n`).join('')}\n${newest.note}`);
      if (status === 200) return { ...newest, note: withSignatures(newest.note, text) };
      if (status === 422) throw this.contradiction({ size: old }, `it does not find that ours, of ${newest.size} entries, continues that`);
      if (status !== 409) throw new Error(`${this.name} answered ${status}`);
      const size = readSize(text);
      if (size === undefined) throw new Error(`${this.name} answered 409 without its size`);
      if (size > newest.size) throw this.contradiction({ size }, `ours has ${newest.size} entries only`);
      if (size === old) throw this.contradiction({ size }, 'ours of that size has another root');
      old = size;
    }
    throw new Error(`${this.name} has another size each time that it is asked`);
  }

  private async ask(body: string): Promise<{ status: number; text: string }> {
    const outcome = await this.outbound.fetch(this.url, {
      method: 'POST',
      headers: { 'content-type': 'text/plain; charset=utf-8' },
      body,
      maxBytes: MAX_BYTES,
      timeoutMs: TIMEOUT_MS,
      // Its address comes from the operator's environment.
      trusted: true,
    });
    if (outcome.kind !== 'answered') throw new Error(`${this.name} cannot be reached: ${outcome.message}`);
    if (!outcome.complete) throw new Error(`${this.name} did not answer to the end`);
    return { status: outcome.status, text: outcome.body.toString('utf8') };
  }

  private contradiction(anchored: Anchored, why: string): AnchorContradicts {
    return new AnchorContradicts(anchored, `${this.name} has a checkpoint of ${anchored.size} entries; ${why}`);
  }
}

function withSignatures(note: string, answer: string): string {
  const lines = answer.split('\n').filter((line) => line !== '');
  if (lines.length === 0 || !lines.every((line) => SIGNATURE_LINE.test(line))) throw new Error('the witness answered without a signature');
  return `${note}${lines.map((line) => `${line}\n`).join('')}`;
}

function readSize(text: string): number | undefined {
  const size = /^(0|[1-9]\d*)\n?$/.exec(text)?.[1];
  return size !== undefined && Number.isSafeInteger(Number(size)) ? Number(size) : undefined;
}
