import { JwtService } from '@nestjs/jwt';
import { describe, expect, test } from '@jest/globals';
import { newId } from '../../../domain/ids.js';
import type { CompleteConfig } from '../../../platform/config/config.js';
import { keyIdOf } from '../../../platform/secrets/fingerprint.js';
import { AgentTokens, type Vouching } from './agent-tokens.js';

const config = { jwtSecret: 'a secret of at least thirty-two bytes', agentJwtTtl: 3_600, agentJwtMax: 86_400 } as CompleteConfig;
const tokens = new AgentTokens(new JwtService({}), config);
const agent = { id: newId('agt'), organizationId: newId('org'), epoch: 0 };

/** A key that ends so many milliseconds after the beginning of the present second. */
function issueFor(milliseconds: number) {
  const second = Math.floor(Date.now() / 1_000);
  const key = { id: newId('key'), expiresAt: new Date(second * 1_000 + milliseconds) };
  const vouching: Vouching = { at: second, by: 'root', key };
  return tokens.issue(agent, [], vouching);
}

// The present second only goes on, so that these stay in a key's last second, or behind its end, on the slowest machine.
test.each([999, 500, 0, -1, -5_000])('in the last second of a key, or past its end (%d ms), no token is given', (milliseconds) => {
  expect(() => issueFor(milliseconds)).toThrow(expect.objectContaining({ code: 'UNAUTHENTICATED' }));
});

test('before it, one that ends with the key', () => {
  const before = Math.floor(Date.now() / 1_000);
  const { expiresAt, token } = issueFor(600_999);
  const lasts = expiresAt.getTime() / 1_000 - before;
  expect(lasts).toBeGreaterThanOrEqual(600);
  expect(lasts).toBeLessThan(660);
  expect(tokens.verify(token)).toMatchObject({ ok: true });
});

describe('while JWT_SECRET is replaced', () => {
  const [OLD, NEW] = ['the former of at least thirty-two bytes', 'the next one of at least thirty-two bytes'];
  const server = (jwtSecret: string, jwtSecretAccepted?: string) =>
    new AgentTokens(new JwtService({}), { ...config, jwtSecret, jwtSecretAccepted });
  const tokenOf = (by: AgentTokens) => by.issue(agent, [], { at: 0, by: 'root' }).token;
  const headerOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[0]!, 'base64url').toString()) as object;

  test('a server with the next one and a server with both verify each other\'s tokens, and each names its key', () => {
    const [behind, ahead] = [server(OLD, NEW), server(NEW, OLD)];
    for (const at of [behind, ahead]) {
      for (const by of [behind, ahead, server(OLD)]) expect(at.verify(tokenOf(by))).toMatchObject({ ok: true });
    }
    expect(headerOf(tokenOf(ahead))).toEqual({ alg: 'HS256', typ: 'JWT', kid: keyIdOf(NEW) });
    expect(headerOf(tokenOf(behind))).toMatchObject({ kid: keyIdOf(OLD) });
  });

  test('after it the former one\'s are refused, by name; so is one that names the other key', () => {
    const token = tokenOf(server(OLD));
    expect(server(NEW).verify(token)).toMatchObject({ ok: false, reason: expect.stringMatching(/any more: get a new token/) });
    const [, claims, signature] = token.split('.');
    const header = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT', kid: keyIdOf(NEW) })).toString('base64url');
    const renamed = [header, claims, signature].join('.');
    expect(server(NEW, OLD).verify(renamed)).toEqual({ ok: false, reason: 'the signature does not hold' });
    const unnamed = new JwtService({}).sign({ ...JSON.parse(Buffer.from(claims!, 'base64url').toString()) as object }, { secret: OLD });
    expect([server(NEW).verify(unnamed), server(NEW, OLD).verify(unnamed)]).toMatchObject([{ ok: false }, { ok: true }]);
  });

  test('one that has leaked is dropped without a restart, also where it was kept as verified, and where it signs', () => {
    const [behind, ahead] = [server(OLD, NEW), server(NEW, OLD)];
    const token = tokenOf(behind);
    for (const at of [behind, ahead]) {
      expect(at.verify(token).ok).toBe(true);
      at.drop([keyIdOf(OLD)]);
      expect([at.verify(token).ok, at.verify(tokenOf(ahead)).ok, at.acceptsAnother]).toEqual([false, true, false]);
    }
    expect(headerOf(tokenOf(behind))).toMatchObject({ kid: keyIdOf(NEW) });
  });
});
