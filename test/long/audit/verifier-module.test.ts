import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { createHash, generateKeyPairSync, sign, verify as nodeVerify, type KeyObject } from 'node:crypto';
import { execFile } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { jcs, linesOf, parseCanonical, sha256, sha512, verifyEd25519 } from '../../../verifier/verify.mjs';
import { jcs as serviceJcs } from '../../../src/domain/audit/entry/jcs.js';
import { writeLongExport } from '../../support/log/long-export.js';

const MODULE = new URL('../../../verifier/verify.mjs', import.meta.url);
const text = readFileSync(MODULE, 'utf8');
const seed = 20_261_122;
const raw = (key: KeyObject) => new Uint8Array(key.export({ format: 'der', type: 'spki' }).subarray(-32));

describe('the module', () => {
  it('is short, and asks for nothing but modules of Node, and these only from the command line', () => {
    const lines = text.trimEnd().split('\n');
    expect(lines.length).toBeLessThanOrEqual(700);
    expect(text).not.toMatch(/^import |\brequire\(|\beval\(|new Function|fetch\(|XMLHttpRequest|WebSocket/m);
    const asked = [...text.matchAll(/import\(([^)]*)\)/g)].map(([, name]) => name);
    expect(asked.filter((name) => !/^'node:\w+'$/.test(name!))).toEqual([]);
    expect(text.split('// --- 10.')[0]).not.toMatch(/import\(|process|await import/);
  });
});

describe('hashes and signatures', () => {
  it('are those of Node', () => {
    fc.assert(fc.property(fc.uint8Array({ maxLength: 400 }), fc.uint8Array({ maxLength: 200 }), (first, second) => {
      const both = Buffer.concat([first, second]);
      expect(Buffer.from(sha256(first, second)).equals(createHash('sha256').update(both).digest())).toBe(true);
      expect(Buffer.from(sha512(both)).equals(createHash('sha512').update(both).digest())).toBe(true);
    }), { seed, numRuns: 300 });
  });

  it('accept what Node signs, and nothing that Node refuses', () => {
    const { privateKey, publicKey } = generateKeyPairSync('ed25519');
    fc.assert(fc.property(fc.uint8Array({ maxLength: 150 }), fc.nat(63), fc.integer({ min: 1, max: 255 }), (message, at, flip) => {
      const good = new Uint8Array(sign(null, message, privateKey));
      expect(verifyEd25519(raw(publicKey), message, good)).toBe(true);
      const bad = good.map((byte, n) => (n === at ? byte ^ flip : byte));
      expect(verifyEd25519(raw(publicKey), message, bad)).toBe(nodeVerify(null, message, publicKey, bad));
      expect(verifyEd25519(raw(publicKey), Uint8Array.of(...message, 1), good)).toBe(false);
    }), { seed, numRuns: 25 });
  });

  // RFC 8032, section 7.1: TEST 1, TEST 2, TEST 3.
  it.each([
    ['d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a', '',
      'e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b'],
    ['3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c', '72',
      '92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00'],
    ['fc51cd8e6218a1a38da47ed00230f0580816ed13ba3303ac5deb911548908025', 'af82',
      '6291d657deec24024827e69c3abe01a30ce548a284743a445e3680d7db5ac3ac18ff9b538d16f290ae67f760984dc6594a7c15e9716ed28dc027beceea1ec40a'],
  ])('fit RFC 8032: %s', (key, message, signature) => {
    const bytes = (hex: string) => new Uint8Array(Buffer.from(hex, 'hex'));
    expect(verifyEd25519(bytes(key), bytes(message), bytes(signature))).toBe(true);
    // S + L is the same scalar in another spelling.
    const order = 2n ** 252n + 27742317777372353535851937790883648493n;
    const s = BigInt(`0x${Buffer.from(signature.slice(64), 'hex').reverse().toString('hex')}`) + order;
    const other = Buffer.from(s.toString(16).padStart(64, '0'), 'hex').reverse().toString('hex');
    expect(verifyEd25519(bytes(key), bytes(message), bytes(signature.slice(0, 64) + other))).toBe(false);
  });
});

describe('canonical JSON', () => {
  it('is that of the service', () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => {
      expect(jcs(value)).toBe(serviceJcs(value));
      expect(parseCanonical(jcs(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }), { seed, numRuns: 300 });
  });

  it.each([
    '{"a":1,"a":1}', '{"b":1,"a":1}', '{ "a":1}', '"\\ud800"', '1.0', '-0', '1e400', '9007199254740993', '"\\u0041"',
    '{"__proto__":1,"__proto__":1}',
    `${'['.repeat(300)}${']'.repeat(300)}`, `${'['.repeat(200_000)}`, '', '01', '{"a":1}\n', 'NaN',
  ])('refuses %p', (bad) => {
    expect(parseCanonical(bad)).toBeUndefined();
  });

  it('keeps a member named __proto__', () => {
    expect(Object.keys(parseCanonical('{"__proto__":{"a":1}}') as object)).toEqual(['__proto__']);
  });
});

describe('the lines of a file', () => {
  it('are the same, however it comes', async () => {
    const read = async (bytes: Uint8Array, size: number) => {
      const chunks = async function* () {
        for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.slice(at, at + size));
      };
      const lines: string[] = [];
      for await (const one of linesOf(chunks())) lines.push(Buffer.from(one).toString('utf8'));
      return lines;
    };
    await fc.assert(fc.asyncProperty(fc.array(fc.string({ maxLength: 9 })), fc.integer({ min: 1, max: 20 }), async (lines, size) => {
      const whole = lines.map((one) => one.replaceAll('\n', ' '));
      expect(await read(Buffer.from(whole.map((one) => `${one}\n`).join('')), size)).toEqual(whole);
      expect(await read(Buffer.from([...whole, 'cut'].join('\n')), size)).toEqual([...whole, 'cut']);
    }), { seed, numRuns: 200 });
  });

  // No list of JavaScript has a member for each byte of it.
  it('may be longer than 128 MiB', async () => {
    const [piece, pieces] = [new Uint8Array(2 ** 20).fill(97), 129];
    const chunks = async function* () {
      for (let n = 0; n < pieces; n++) yield await Promise.resolve(piece);
      yield Uint8Array.of(10, 98);
    };
    const lengths: number[] = [];
    for await (const one of linesOf(chunks())) lengths.push(one.length);
    expect(lengths).toEqual([pieces * piece.length, 1]);
  });
});

describe('memory', () => {
  it('does not grow with the log', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-verifier-'));
    try {
      const peak = async (entries: number) => {
        const file = join(folder, `${entries}.jsonl`);
        await writeLongExport(file, entries);
        const script = `const { verify, linesOf } = await import(${JSON.stringify(MODULE.href)});
          let kept = 0;
          const onProgress = ({ lines }) => {
            if (lines % 10_000 !== 0) return;
            gc();
            const { heapUsed, arrayBuffers } = process.memoryUsage();
            kept = Math.max(kept, (heapUsed + arrayBuffers) / 2 ** 20);
          };
          const result = await verify(linesOf((await import('node:fs')).createReadStream(${JSON.stringify(file)})), { onProgress });
          console.log(JSON.stringify({ ...result, kept, peak: process.resourceUsage().maxRSS / 1024 }));`;
        const args = ['--expose-gc', '--input-type=module', '-e', script];
        const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 1e7, env: {} });
        return JSON.parse(stdout) as { verdict: string; breaks: unknown[]; counts: { entries: number }; peak: number; kept: number };
      };
      const [small, large] = [await peak(10_000), await peak(100_000)];
      expect([small.verdict, large.verdict, large.breaks, large.counts.entries]).toEqual(['valid', 'valid', [], 100_000]);
      // In megabytes: what is still held after a collection, buffers of the file among it, and what the process ever took.
      expect(large.kept - small.kept).toBeLessThan(6);
      expect(large.peak - small.peak).toBeLessThan(100);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });
});
