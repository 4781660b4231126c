import { describe, expect, it } from '@jest/globals';
import { createLogger, withoutCredentials } from './logger.js';
import { NestLogger } from './nest-logger.js';

const ROOT_KEY = `svc_root_${'0123456789abcdef'.repeat(4)}`;

function logged(use: (logger: ReturnType<typeof createLogger>) => void, logLevel = 'trace'): string[] {
  const lines: string[] = [];
  use(createLogger({ logLevel }, { write: (line) => lines.push(line) }));
  return lines;
}

describe('the logger', () => {
  it('writes one JSON object a line, whatever the text holds', () => {
    const forged = 'first\r\n{"level":"fatal","msg":"forged"}\u2028';
    const lines = logged((logger) => logger.info({ name: 'x\n{"level":"fatal"}' }, forged));
    expect(lines).toHaveLength(1);
    expect(lines[0]!.trimEnd()).not.toMatch(/[\r\n]/);
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'info', service: 'countersign', msg: forged });
  });

  it.each([
    ['a header', { req: { headers: { authorization: 'Bearer LEAK', 'x-api-key': 'LEAK', cookie: 'LEAK' } } }],
    ['a cookie that is set', { res: { headers: { 'set-cookie': 'LEAK' } } }],
    ['headers of another name', { headers: { authorization: 'LEAK', 'x-api-key': 'LEAK' } }],
    ['a member', { token: 'LEAK', secret: 'LEAK', password: 'LEAK', key: 'LEAK' }],
    ['the configuration', { config: { jwtSecret: 'LEAK', encryptionKey: 'LEAK', auditSigningKey: 'LEAK', databaseUrl: 'LEAK' } }],
    ['a nested member', { reply: { agent: { setupToken: 'LEAK', apiKey: 'LEAK' } } }],
  ])('keeps %s to itself', (_name, entry) => {
    const [line] = logged((logger) => logger.info(entry, 'x'));
    expect(line).toContain('[redacted]');
    expect(line).not.toContain('LEAK');
  });

  it('takes credentials out of messages and errors', () => {
    const error = new Error('connect postgres://u:LEAKED@h/d failed', { cause: new Error(`with ${ROOT_KEY}`) });
    const [line] = logged((logger) => logger.error({ err: error }, `Bearer LEAKEDLEAKED and ${ROOT_KEY}`));
    expect(line).not.toMatch(/LEAKED|0123456789abcdef/);
    expect(JSON.parse(line!).err).toMatchObject({ type: 'Error', stack: expect.stringContaining('logger.test') });
  });

  it('obeys its level', () => {
    expect(logged((logger) => logger.info('x'), 'warn')).toEqual([]);
  });
});

describe('withoutCredentials', () => {
  it.each([
    [`key ${ROOT_KEY}.`, 'key svc_root_[redacted].'],
    ['token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl!', 'token [redacted token]!'],
    ['postgres://me:pw@h:5/d', 'postgres://me:[redacted]@h:5/d'],
    ['nothing: to hide @ all', 'nothing: to hide @ all'],
  ])('%s', (text, wanted) => {
    expect(withoutCredentials(text)).toBe(wanted);
  });
});

describe('NestLogger', () => {
  it('keeps context, level and stack', () => {
    const lines = logged((logger) => {
      const nest = new NestLogger(logger);
      nest.log('started', 'Router');
      nest.error('broke', 'Error: broke\n    at somewhere', 'Worker');
      nest.warn(new Error('odd'), 'Worker');
      nest.log({ some: 'object' });
    }).map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(lines).toMatchObject([
      { level: 'info', msg: 'started', context: 'Router' },
      { level: 'error', msg: 'broke', context: 'Worker', stack: expect.stringContaining('somewhere') },
      { level: 'warn', msg: 'odd', err: { message: 'odd' } },
      { level: 'info', msg: '{"some":"object"}' },
    ]);
  });
});
