import { afterEach, expect, test } from '@jest/globals';
import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { cleanUp, end, freePort, freshFolder, launch } from '../../start/launch.js';
import { countersign } from '../../support/servers/command-line.js';

const MINUTE = 60_000;
const FILES = { JWT_SECRET: 'jwt-secret', ENCRYPTION_KEY: 'encryption-key' } as const;

afterEach(cleanUp, MINUTE);

test('beside the embedded database both secrets are replaced in their files, and nothing shows them', async () => {
  const dataDir = freshFolder();
  const linesOf = (name: keyof typeof FILES) => readFileSync(join(dataDir, 'secrets', FILES[name]), 'utf8').trim().split('\n');
  const names = Object.keys(FILES) as (keyof typeof FILES)[];
  const seen = new Set<string>();
  const run = async (...words: string[]) => {
    const { code, stdout, stderr } = await countersign(['secrets', ...words], { DATA_DIR: dataDir });
    for (const name of names) for (const line of linesOf(name)) seen.add(line);
    expect([...seen].filter((secret) => (stdout + stderr).includes(secret))).toEqual([]);
    return { code, text: stdout + stderr };
  };
  const started = async () => {
    const server = launch({ env: { DATA_DIR: dataDir, PORT: await freePort() } });
    await server.ready;
    return server;
  };

  let server = await started();
  const former = names.map((name) => linesOf(name)[0]);
  expect(await run('rotate', 'JWT_SECRET', '--end')).toMatchObject({ code: 1, text: expect.stringContaining('nothing is to be ended') });
  for (const name of names) {
    expect(await run('rotate', name)).toMatchObject({ code: 0, text: expect.stringContaining('Start the server again') });
    const both = linesOf(name);
    // Again, as after an answer that was lost: the same one stays the next.
    expect([await run('rotate', name), linesOf(name)]).toEqual([expect.objectContaining({ code: 0 }), both]);
    expect(statSync(join(dataDir, 'secrets', FILES[name])).mode & 0o777).toBe(0o600);
  }
  await end(server);
  server = await started();
  expect(names.map((name) => linesOf(name)[1])).toEqual(former);
  expect(await run('rotate', 'JWT_SECRET', '--end')).toMatchObject({ code: 1, text: expect.stringMatching(/counts until .*--leaked/) });
  const early = await run('rotate', 'ENCRYPTION_KEY', '--leaked');
  expect(early).toMatchObject({ code: 1, text: expect.stringContaining('not sealed by it yet') });
  expect(await run('reseal')).toMatchObject({ code: 0, text: expect.stringMatching(/^1 rows were sealed anew/) });
  for (const name of names) expect((await run('rotate', name, '--leaked')).code).toBe(0);
  expect(names.map((name) => linesOf(name).length)).toEqual([1, 1]);
  expect(JSON.parse((await run('status', '--json')).text)).toMatchObject({
    secrets: [{ name: 'JWT_SECRET' }, { name: 'ENCRYPTION_KEY', rows: { inUse: 1, former: 0, withoutKeyId: 0 } }],
  });
  await end(server);
  await started();
}, 3 * MINUTE);
