import { JwtService } from '@nestjs/jwt';
import { expect, test } from '@jest/globals';
import { newId } from '../../../domain/ids.js';
import type { CompleteConfig } from '../../../platform/config/config.js';
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
