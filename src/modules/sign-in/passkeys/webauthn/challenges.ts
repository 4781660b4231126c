import { randomBytes, timingSafeEqual } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { SealedBox } from '../../../../platform/secrets/sealed-box.js';

/** What a challenge is answered for: to come in, to add a passkey to one's account, to take an invitation. */
export type ChallengeUse = 'sign-in' | 'add' | 'invitation';

/** Long enough for somebody who has to fetch their key from elsewhere. */
export const CHALLENGE_SECONDS = 300;

const RANDOM_BYTES = 16;
const TIME_BYTES = 6;
const MARK_BYTES = 32;
const SUBJECT_MAX = 100;
const FORM = /^[A-Za-z0-9_-]{72,208}$/;

/** A challenge that is ours, and not too old. */
export interface Challenge {
  /** Whose account the passkey is made for; empty where anybody may come in. */
  readonly subject: string;
  /** When the challenge ends: until then its use is kept. */
  readonly until: Date;
}

/**
 * Challenges of passkeys (WebAuthn, section 13.4.3) without a row for whoever only asks for one: random bytes, when they end, whom they
 * are for, and a mark over that and over the browser that was given them. What is answered is spent (`SpentOnceStore`).
 */
@Injectable()
export class Challenges {
  constructor(private readonly box: SealedBox) {}

  /** @param browser what the browser is known by, which must be the same when it answers */
  make(use: ChallengeUse, browser: string, subject = '', now: number = Date.now()): Uint8Array<ArrayBuffer> {
    if (subject.length > SUBJECT_MAX) throw new Error('Nobody has so long an id.');
    const time = Buffer.alloc(TIME_BYTES);
    time.writeUIntBE(now + CHALLENGE_SECONDS * 1_000, 0, TIME_BYTES);
    const said = Buffer.concat([randomBytes(RANDOM_BYTES), time, Buffer.from(subject, 'latin1')]);
    return Uint8Array.from(Buffer.concat([said, this.mark(use, browser, said)]));
  }

  /** @returns undefined for one that was not made for this use and this browser, or has ended */
  read(use: ChallengeUse, browser: string, challenge: unknown, now: number = Date.now()): Challenge | undefined {
    if (typeof challenge !== 'string' || !FORM.test(challenge)) return undefined;
    const bytes = Buffer.from(challenge, 'base64url');
    // The same bytes have other spellings; what is spent is one of them.
    if (bytes.length < RANDOM_BYTES + TIME_BYTES + MARK_BYTES || bytes.toString('base64url') !== challenge) return undefined;
    const said = bytes.subarray(0, bytes.length - MARK_BYTES);
    if (!timingSafeEqual(this.mark(use, browser, said), bytes.subarray(said.length))) return undefined;
    const until = said.readUIntBE(RANDOM_BYTES, TIME_BYTES);
    return until <= now ? undefined : { subject: said.toString('latin1', RANDOM_BYTES + TIME_BYTES), until: new Date(until) };
  }

  private mark(use: ChallengeUse, browser: string, said: Buffer): Buffer {
    return Buffer.from(this.box.mac('challenges', use, browser, said.toString('base64url')), 'hex');
  }
}
