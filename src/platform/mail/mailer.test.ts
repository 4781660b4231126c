import { expect, test } from '@jest/globals';
import type { Effect } from '../outbox/effects.js';
import { SealedBox } from '../secrets/sealed-box.js';
import { Mailer } from './mailer.js';

const box = new SealedBox({ encryptionKey: 'imInFBztIIgqsOY9Gg/0Zw3BUAZY5plXjWZSz+46OmM=' });
const MAIL = { to: 'ada@example.org', subject: 'You are invited', text: 'https://app.example/invitations/secret' };

test('a mail waits sealed, and is read by whoever sends it', () => {
  const mailer = new Mailer({ smtpHost: 'mail.example' }, box);
  const queued: Effect[] = [];
  mailer.send({ enqueue: (effect) => void queued.push(effect) }, MAIL, 'org_1');
  expect(queued).toEqual([{ kind: 'mail.send', organizationId: 'org_1', payload: { sealed: expect.any(String) } }]);
  expect(JSON.stringify(queued)).not.toMatch(/ada|secret/);
  expect(mailer.read(queued[0]!.payload)).toEqual(MAIL);
  expect(mailer.read({ sealed: Buffer.from('something else that is long enough').toString('base64') })).toBeUndefined();
  expect(mailer.read({})).toBeUndefined();
});

test('without a mail server nothing is queued that nobody would send', () => {
  const mailer = new Mailer({ smtpHost: undefined }, box);
  expect(mailer.isAvailable).toBe(false);
  expect(() => mailer.send({ enqueue: () => undefined }, MAIL)).toThrow();
});
