import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { breaksOf, withSignedErasures, type MemoryLog } from '../../../../test/support/memory/memory-log.js';
import type { Disclosure } from './commitments.js';
import { signingKey } from '../notes/note.js';
import { readEntry } from './read-entry.js';

const file = readFileSync(new URL('../../../../test/vectors/audit-log.json', import.meta.url), 'utf8');
const frozen = JSON.parse(file) as MemoryLog & { preimages: Record<string, string> };
const sha256 = (data: string | Buffer) => createHash('sha256').update(data);

const HASHES = [
  'eb6b96591088b989f859fe3c187c7cefdecc032eab486ee018c6e5e449c20dcf',
  'd5c5a6248da1b9ab8aa8c9a08eb4b0f99d004f18363cc2bc11d255bf20816df1',
  'e11da91f6c568b0b1ef7137041e5de11c9db13ddc0a3931bd7344bff7a958f39',
  'a8178290a5feaf4849e482df333981bd295bd8bfd697c85651c45ae355ad0d65',
  '5e275d59313dab6822425201b3b1230d59e5001f285c5ae1c9603d2f9f3ed9a0',
  '3705492d83f05f0313391c9901a72ca832c3d275d58dcedbe692ff711c6b3e56',
  '0066e7a32747659d35c47ee7aab25705be86a44ea9f507d5ae2843d01bab55d4',
];

// Whatever changes here changes what every log written so far means: a new format version, never an edit of this file.
describe('the frozen log of format version 1', () => {
  it('is the one that was frozen', () => {
    expect(frozen.entries.map(({ hash }) => hash)).toEqual(HASHES);
  });

  it('hashes by nothing but SHA-256 and JSON texts', () => {
    for (const { id, hash, agentId, capability, payload, prevHash } of frozen.entries) {
      const text = frozen.preimages[id]!;
      expect(sha256(text).digest('hex')).toBe(hash);
      expect(JSON.parse(text)).toEqual({
        ...(agentId ? { agentId } : {}),
        ...(capability ? { capability } : {}),
        payload: JSON.parse(payload),
        ...(prevHash ? { prevHash } : {}),
      });
    }
  });

  it('opens its commitments by nothing but SHA-256', () => {
    let opened = 0;
    for (const { payload, disclosures } of frozen.entries) {
      for (const { d, pointer, salt, value } of JSON.parse(disclosures) as Disclosure[]) {
        expect(payload).toContain(`"${d}"`);
        if (value === undefined) continue;
        const key = pointer.split('/')[3]?.replaceAll('~1', '/').replaceAll('~0', '~');
        const text = key === undefined ? value : `[${JSON.stringify(key)},${value}]`;
        expect(sha256(Buffer.concat([Buffer.from(salt, 'base64url'), Buffer.from(text)])).digest('base64url')).toBe(d);
        opened++;
      }
    }
    expect(opened).toBe(17);
  });

  it('verifies, and reads with its values, but for what was erased', async () => {
    const key = signingKey('countersign-test', Buffer.alloc(32, 7).toString('base64'));
    expect(await breaksOf(withSignedErasures(frozen, key))).toEqual([]);
    expect(await breaksOf(frozen)).not.toEqual([]);
    const started = readEntry(frozen.entries[2]!);
    expect(started.origin).toEqual({
      via: 'rest', requestId: 'request-00000001', traceId: '0af7651916cd43dd8448eb211c80319c', address: '2001:db8::1',
    });
    expect(started.metadata['input']).toEqual({
      to: '[erased]', amount: 1500, 'a/b~c"': [null, true, 0, 1.5e-7], '2': 'two', '10': '[erased]',
    });
    expect(readEntry(frozen.entries[0]!).metadata['name']).toBe('Ünïcode & Söhne €😀');
    expect(readEntry(frozen.entries[4]!).metadata).toEqual({ reason: 'STOPPED', input: {} });
  });
});
