import type { Reply } from '../http/actors.js';

export const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/** Something that a test lets happen: whoever waits for `opened` goes on after `open`. */
export function aDoor(): { readonly opened: Promise<void>; open(): void } {
  let open: () => void = () => undefined;
  const opened = new Promise<void>((resolve) => (open = resolve));
  return { opened, open };
}

/** What is turned away under load (503) is asked for again. */
export async function done(call: () => Promise<Reply>): Promise<Reply> {
  for (let attempt = 0; ; attempt++) {
    const reply = await call();
    if (reply.status !== 503 || attempt === 20) return reply;
    await pause(100);
  }
}

/** mulberry32: small, and the same numbers for the same seed. */
export function generator(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

export const oneOf = <T>(items: readonly T[], random: () => number): T => items[Math.floor(random() * items.length)]!;

/** Of a builder, which throws: what is turned away under load is made once more. */
export async function made<Built>(make: () => Promise<Built>): Promise<Built> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await make();
    } catch (error) {
      if (attempt === 20 || !(error instanceof Error && error.message.includes('answered 503'))) throw error;
      await pause(100);
    }
  }
}
