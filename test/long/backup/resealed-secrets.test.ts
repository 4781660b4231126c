import { expect, test } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { verification } from '../../support/erasure/erasures.js';
import { asRoot } from '../../support/http/actors.js';
import { countersign } from '../../support/servers/command-line.js';
import { startServer } from '../../support/servers/server.js';
import { TEST_ENVIRONMENT } from '../../support/servers/test-run.js';

// The log holds a digest of each connector's secret as it is sealed, and a verification compares it with the row.
test('what is sealed anew has its entry: the log verifies as before, and the secret still opens', async () => {
  const server = await startServer();
  try {
    const names = ['one', 'other'];
    for (const name of names) {
      (await asRoot(server).put(`/api/v1/secrets/${name}`, { value: 'what a connector shows', origins: ['https://a.example'] })).expect(201);
    }
    const { ENCRYPTION_KEY: from, JWT_SECRET, AUDIT_SIGNING_KEY } = TEST_ENVIRONMENT as Record<string, string>;
    const to = randomBytes(32).toString('base64');
    await server.restart({ ENCRYPTION_KEY: from!, ENCRYPTION_KEY_ACCEPTED: to });
    await server.restart({ ENCRYPTION_KEY: to, ENCRYPTION_KEY_ACCEPTED: from! });
    expect((await verification(server)).breaks).toEqual([]);
    const env = { DATABASE_URL: server.database.url, ENCRYPTION_KEY: to, ENCRYPTION_KEY_ACCEPTED: from!, JWT_SECRET: JWT_SECRET!,
      AUDIT_SIGNING_KEY: AUDIT_SIGNING_KEY! };
    const resealed = await countersign(['secrets', 'reseal'], env);
    expect(resealed).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+ rows were sealed anew by key/) });
    expect(await verification(server)).toMatchObject({ valid: true, breaks: [] });
    const entries = await server.sql<{ payload: string }>(
      `select payload from audit_entries where event = 'admin.secret_changed' order by seq`);
    expect(entries.map(({ payload }) => (JSON.parse(payload) as { metadata: object }).metadata)).toMatchObject([
      ...names.map((secretName) => ({ secretName, change: 'set' })), ...names.map((secretName) => ({ secretName, change: 'resealed' })),
    ]);
  } finally {
    await server.stop();
  }
});
