import { describe, expect, it } from '@jest/globals';
import type { Command } from 'commander';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { COMMANDS } from '../../src/cli/commands.js';
import { checkoutRoot } from '../../src/platform/config/checkout-root.js';
import { givenSecrets, loadConfig } from '../../src/platform/config/config.js';

const bin = join(checkoutRoot(), 'bin', 'countersign.mjs');

describe('countersign secrets', () => {
  it('prints a set that the server takes, another one each time, from a bare checkout', () => {
    const folder = mkdtempSync(join(tmpdir(), 'countersign-bare-'));
    mkdirSync(join(folder, 'bin'));
    cpSync(bin, join(folder, 'bin', 'countersign.mjs'));
    const run = (...words: string[]) => {
      const copy = join(folder, 'bin', 'countersign.mjs');
      const result = spawnSync(process.execPath, [copy, 'secrets', ...words], { encoding: 'utf8' });
      expect([result.status, result.stderr]).toEqual([0, '']);
      return result.stdout;
    };
    const set = parseEnv(run());
    expect(Object.keys(set).sort()).toEqual(['AUDIT_SIGNING_KEY', 'ENCRYPTION_KEY', 'INTERNAL_API_KEY', 'JWT_SECRET']);
    expect(givenSecrets(loadConfig({ ...set, DATABASE_URL: 'postgres://h/d' }))).toMatchObject({ jwtSecret: set.JWT_SECRET });
    const other = JSON.parse(run('--json')) as Record<string, string>;
    for (const [name, value] of Object.entries(set)) expect(other[name]).not.toBe(value);
    rmSync(folder, { recursive: true });
  });

  it('refuses what it does not know', () => {
    expect(spawnSync(process.execPath, [bin, 'secrets', '--jsn'], { encoding: 'utf8' })).toMatchObject({ status: 2, stdout: '' });
  });

  it('is executable as committed', () => {
    expect(statSync(bin).mode & 0o111).toBe(0o111);
    expect(readFileSync(bin, 'utf8')).toMatch(/^#!\/usr\/bin\/env node\n/);
  });
});

describe('every command', () => {
  const leaves = (command: Command): Command[] => (command.commands.length === 0 ? [command] : command.commands.flatMap(leaves));

  it('has --json, but for start, which answers nothing', async () => {
    const all: Command[] = [];
    for (const load of Object.values(COMMANDS)) all.push(...leaves(await load()));
    expect(all.length).toBeGreaterThan(25);
    const without = all.filter(({ options }) => !options.some(({ long }) => long === '--json')).map((one) => one.name());
    expect(without).toEqual(['start']);
  });

  it('environment --json tells what its text tells', () => {
    const run = (...words: string[]) => spawnSync(process.execPath, [bin, 'environment', ...words], { encoding: 'utf8' }).stdout;
    const { variables } = JSON.parse(run('--json')) as { variables: { name: string; default?: string; secret: boolean }[] };
    expect(variables.map(({ name, default: fallback = '' }) => `#${name}=${fallback}`)).toEqual(run().match(/^#[A-Z_]+=.*$/gm));
    expect(variables.filter(({ secret }) => secret).map(({ name }) => name)).toContain('JWT_SECRET');
  });
});

describe('whose reader has read enough', () => {
  const commands = [[['secrets']], [['environment']], [['audit', 'verify', '--help']]];
  it.each(commands)('%j ends quietly, as it would have', async (words) => {
    const child = spawn(process.execPath, [bin, ...words], { stdio: ['ignore', 'pipe', 'pipe'] });
    child.stdout.destroy();
    let said = '';
    child.stderr.on('data', (part: Buffer) => (said += part.toString()));
    const [code] = (await once(child, 'close')) as [number | null];
    expect([code, said]).toEqual([0, '']);
  });
});

describe('the image', () => {
  it('is made by the steps that the script shows to work', () => {
    const listed = spawnSync('sh', [join(checkoutRoot(), 'scripts', 'image-steps.sh'), '--list'], { encoding: 'utf8' });
    // Read here by other means than the script's: instructions with their continued lines, but for those that run nothing.
    const instructions = readFileSync(join(checkoutRoot(), 'Dockerfile'), 'utf8')
      .replace(/^\s*#.*\n/gm, '')
      .replace(/\\\n\s*/g, '')
      .split('\n')
      .filter((line) => /^\s*(copy|run|add|shell|onbuild)\b/i.test(line));
    expect(instructions.length).toBeGreaterThan(5);
    expect(listed.stdout.trim().split('\n')).toEqual(instructions);
  });

  it('runs as an ordinary user, looks after its health, and gets no secret at build time', () => {
    const dockerfile = readFileSync(join(checkoutRoot(), 'Dockerfile'), 'utf8');
    expect(dockerfile).toMatch(/^USER (?!root|0)\w+$/m);
    expect(dockerfile).toMatch(/^HEALTHCHECK /m);
    expect(dockerfile).not.toMatch(/^(ARG|ENV) .*(SECRET|KEY|PASS)/m);
    expect(readFileSync(join(checkoutRoot(), '.dockerignore'), 'utf8')).toMatch(/^\*$/m);
  });
});
