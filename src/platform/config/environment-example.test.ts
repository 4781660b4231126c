import { describe, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { checkoutRoot } from './checkout-root.js';
import { docOf, environmentSchema } from './config.schema.js';
import { loadConfig } from './config.js';
import { environmentExample } from './environment-example.js';

describe('.env.example', () => {
  it('is the one that the schema gives (node bin/countersign.mjs environment > .env.example)', () => {
    expect(readFileSync(join(checkoutRoot(), '.env.example'), 'utf8')).toBe(environmentExample());
  });

  it('has a line and an explanation for every variable', () => {
    const lines = environmentExample().split('\n');
    for (const [name, type] of Object.entries(environmentSchema.shape)) {
      const at = lines.findIndex((line) => line.startsWith(`#${name}=`));
      expect([name, at > 0]).toEqual([name, true]);
      expect(docOf(type).doc).toMatch(/\w/);
      expect(lines[at - 1]!.length).toBeLessThanOrEqual(160);
    }
  });

  it('gives the defaults when it is switched on as it stands', () => {
    const switchedOn = environmentExample().replace(/^#([A-Z_]+=)/gm, '$1');
    expect(loadConfig(parseEnv(switchedOn))).toEqual(loadConfig({}));
  });
});
