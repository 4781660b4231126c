import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { normalPassword, PASSWORD_MAX } from '../../../domain/access/password-rules.js';

/** scrypt's cost, block size and parallelism (RFC 7914, section 2): 32 MiB and about a quarter of a second of one processor. */
interface Cost {
  readonly N: number;
  readonly r: number;
  readonly p: number;
}

const COST: Cost = { N: 2 ** 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const KEY_BYTES = 32;
const MAX_MEMORY = 64 * 1024 * 1024;
const FORM = /^scrypt\$(\d{1,9})\$(\d{1,3})\$(\d{1,3})\$([A-Za-z0-9_-]{22})\$([A-Za-z0-9_-]{43})$/;

/** What a password is compared with where there is none: the same work, which nothing fits. */
const NOBODYS = written(COST, randomBytes(SALT_BYTES), randomBytes(KEY_BYTES));

/** As it is kept: `scrypt$N$r$p$salt$key`, the last two in base64url. */
export async function hashOf(password: string): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  return written(COST, salt, await derived(password, salt, COST));
}

/** Whether a password is the one of a kept hash; without a hash it takes as long and is not. */
export async function fits(password: string, hash: string | null): Promise<boolean> {
  // No such password was ever kept, and however long it is, it costs no more than one that could be.
  const isTooLong = password.length > 2 * PASSWORD_MAX;
  const kept = FORM.exec(hash === null ? NOBODYS : hash);
  if (!kept) throw new Error('A kept password has a form that this build does not know.');
  const [, N, r, p, salt, key] = kept;
  const cost = { N: Number(N), r: Number(r), p: Number(p) };
  const shown = await derived(isTooLong ? '' : password, Buffer.from(salt!, 'base64url'), cost);
  return timingSafeEqual(shown, Buffer.from(key!, 'base64url')) && hash !== null && !isTooLong;
}

/** Whether a hash was made at another cost than passwords are kept at now. */
export function isOutdated(hash: string): boolean {
  return !hash.startsWith(prefix(COST));
}

function prefix({ N, r, p }: Cost): string {
  return `scrypt$${N}$${r}$${p}$`;
}

function written(cost: Cost, salt: Buffer, key: Buffer): string {
  return `${prefix(cost)}${salt.toString('base64url')}$${key.toString('base64url')}`;
}

function derived(password: string, salt: Buffer, cost: Cost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(normalPassword(password), salt, KEY_BYTES, { ...cost, maxmem: MAX_MEMORY }, (error, key) => {
      if (error) reject(error);
      else resolve(key);
    });
  });
}
