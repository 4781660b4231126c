import 'reflect-metadata';
import { afterEach, describe, expect, it } from '@jest/globals';
import type { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { piiSettings } from '../../src/domain/pii/settings.js';
import type { PiiScanner as Scanner } from '../../src/modules/llm/scan/pii-scanner.service.js';

// As it is built: its threads load a file of the build.
const built = pathToFileURL(join(process.cwd(), 'dist', 'src', 'modules', 'llm', 'scan', 'pii-scanner.service.js')).href;
const { PiiScanner, ScanFailed } = await import(built) as { PiiScanner: new () => Scanner; ScanFailed: new () => Error };

const settings = piiSettings({});
const call = (content: string) => ({ body: JSON.stringify({ messages: [{ role: 'user', content }] }), family: 'openai' as const,
  settings });
const LONG = `${'The quick brown fox. '.repeat(5_000)} anna@example.com`;
/** Short, and more work than the event loop is given. */
const LABORIOUS = `${'tel 0301234567 '.repeat(3_000)} anna@example.com`;
/** Some seconds of work. */
const SLOW = 'tel 0301234567 '.repeat(250_000);

describe('the scanner', () => {
  const scanners: Scanner[] = [];
  const scannerOf = () => scanners[scanners.push(new PiiScanner()) - 1]!;
  afterEach(() => Promise.all(scanners.splice(0).map((scanner) => scanner.onModuleDestroy())));

  it('answers the same of a short call, of a long one in a thread, and of a laborious one', async () => {
    const scanner = scannerOf();
    for (const content of ['anna@example.com', LONG, LABORIOUS]) {
      const scanned = await scanner.scan(call(content));
      expect(scanned.counts.EMAIL_ADDRESS).toBe(1);
      expect(scanned.body).not.toContain('anna@');
    }
  });

  it('reads long answers and shows long texts in threads, too', async () => {
    const scanner = scannerOf();
    const body = { choices: [{ message: { content: `${LABORIOUS} <CREDIT_CARD_1>` } }] };
    const read = await scanner.readAnswer(body, 'openai', settings, new Map([['<CREDIT_CARD_1>', '4111 1111 1111 1111']]));
    expect(read.counts).toEqual({ EMAIL_ADDRESS: 1, PHONE_NUMBER: 3_000 });
    expect(JSON.stringify(read.body)).toContain('4111 1111 1111 1111');
    expect((await scanner.preview(LONG, settings)).values).toEqual([{ type: 'EMAIL_ADDRESS', value: 'anna@example.com',
      redacted: '<EMAIL_ADDRESS>' }]);
  });

  it('fails closed on what is no JSON, and says nothing of it', async () => {
    const failure = await scannerOf().scan({ body: '{"secret: anna@example.com', family: 'openai',
      settings }).catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(ScanFailed);
    expect(String(failure)).not.toContain('anna');
  });

  it('fails closed when time is over, and scans the next call', async () => {
    const scanner = scannerOf();
    await expect(scanner.scan(call(SLOW), 50)).rejects.toThrow(ScanFailed);
    await expect(scanner.scan(call(LONG))).resolves.toMatchObject({ counts: { EMAIL_ADDRESS: 1 } });
  });

  it('fails closed when its thread is lost, and scans the next call', async () => {
    const scanner = scannerOf();
    await scanner.scan(call(LONG));
    const scanning = scanner.scan(call(SLOW));
    const { threads } = scanner as unknown as { threads: { threads: { terminate(): Promise<number> }[] } };
    await Promise.all([expect(scanning).rejects.toThrow(ScanFailed), ...threads.threads.map((thread) => thread.terminate())]);
    await expect(scanner.scan(call(LONG))).resolves.toMatchObject({ counts: { EMAIL_ADDRESS: 1 } });
  });

  it('outlives what a thread says too late, and never links a thread by require, which Node.js cannot end', async () => {
    const scanner = scannerOf();
    await scanner.scan(call(LONG));
    const { threads } = scanner as unknown as { threads: EventEmitter & { options: { execArgv: string[] } } };
    expect(() => threads.emit('error', new Error('an answer to a task that was given up'))).not.toThrow();
    expect(threads.options.execArgv).toContain('--no-experimental-require-module');
  });

  it('fails closed when too many wait', async () => {
    const scanner = scannerOf();
    const waiting = Array.from({ length: 80 }, () => scanner.scan(call(LONG)).then(() => 'scanned', (error: unknown) => error));
    const ended = await Promise.all(waiting);
    expect(ended.filter((one) => one instanceof ScanFailed).length).toBeGreaterThan(0);
    expect(ended.filter((one) => one === 'scanned').length).toBeGreaterThan(0);
  });
});
