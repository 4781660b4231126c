import { afterEach, beforeAll, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { checkoutRoot } from '../../src/platform/config/checkout-root.js';
import { countersign } from '../support/servers/command-line.js';
import { cleanUp, databasePid, end, freePort, freshFolder, launch } from './launch.js';

const KEY = /svc_root_[0-9a-f]{64}/;
const MINUTE = 60_000;

beforeAll(() => {
  execFileSync(process.execPath, [join(checkoutRoot(), 'scripts', 'build.mjs')], { stdio: 'inherit' });
}, 5 * MINUTE);

afterEach(cleanUp, MINUTE);

const settings = async (dataDir: string) => ({ env: { DATA_DIR: dataDir, PORT: await freePort() } });
const status = async (url: string, key: string) => (await fetch(`${url}/api/v1/agents`, { headers: { 'x-api-key': key } })).status;

it('a lost root key is replaced in the embedded database, while the server runs and while none does', async () => {
  const dataDir = freshFolder();
  const rotated = async () => {
    const { code, stdout, stderr } = await countersign(['key', 'rotate'], { DATA_DIR: dataDir });
    expect([code, stderr]).toEqual([0, '']);
    return KEY.exec(stdout)![0];
  };
  const first = launch(await settings(dataDir));
  const url = await first.ready;
  const lost = KEY.exec(first.output())![0];
  const second = await rotated();
  expect([await status(url, lost), await status(url, second)]).toEqual([401, 200]);
  await end(first);

  const third = await rotated();
  expect(databasePid(dataDir)).toBeUndefined();
  const again = launch(await settings(dataDir));
  const next = await again.ready;
  expect([await status(next, lost), await status(next, second), await status(next, third)]).toEqual([401, 401, 200]);
}, 3 * MINUTE);

it('a data directory without a database is left as it is', async () => {
  const dataDir = freshFolder();
  expect(await countersign(['key', 'rotate'], { DATA_DIR: dataDir })).toMatchObject({ code: 2, stdout: '' });
  expect(readdirSync(dataDir)).toEqual([]);
}, MINUTE);
