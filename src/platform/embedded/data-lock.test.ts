import { afterEach, describe, expect, test } from '@jest/globals';
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { lockDataDirectory, processAt } from './data-lock.js';

const folders: string[] = [];
const children: ChildProcess[] = [];

afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
});

function folderLockedBy(pid: number): string {
  const folder = mkdtempSync(join(tmpdir(), 'countersign-lock-'));
  folders.push(folder);
  writeFileSync(join(folder, 'server.lock'), JSON.stringify({ pid, born: processAt(pid).born }));
  return folder;
}

/** The process id of a child of `sh`, which then becomes a program that waits for no child. */
async function childOfCareless(command: string): Promise<number> {
  const parent = spawn('sh', ['-c', `${command} >/dev/null & echo $!; exec sleep 60`], { stdio: ['ignore', 'pipe', 'ignore'] });
  children.push(parent);
  const [line] = (await once(parent.stdout, 'data')) as [Buffer];
  // The shell itself would still wait for a child that ends before the shell becomes the other program.
  const programOf = () => execFileSync('ps', ['-o', 'comm=', '-p', String(parent.pid)], { encoding: 'utf8' });
  while (!programOf().includes('sleep')) await delay(20);
  return Number(line.toString('utf8'));
}

describe('the lock of a data directory', () => {
  test('is kept for a process that runs', async () => {
    const pid = await childOfCareless('sleep 60');
    expect(() => lockDataDirectory(folderLockedBy(pid))).toThrow(`is in use by the server with process id ${pid}`);
    process.kill(pid, 'SIGKILL');
  });

  test('is taken from a process that was killed and that nobody has waited for', async () => {
    const pid = await childOfCareless('sleep 60');
    const folder = folderLockedBy(pid);
    process.kill(pid, 'SIGKILL');
    while (!processAt(pid).hasEnded) await delay(5);
    // It is still there, with its number and its birth.
    expect(() => process.kill(pid, 0)).not.toThrow();
    const unlock = lockDataDirectory(folder);
    expect(existsSync(join(folder, 'server.lock'))).toBe(true);
    unlock();
    expect(existsSync(join(folder, 'server.lock'))).toBe(false);
  });

  test('is taken from a process whose number is now that of another', () => {
    const folder = folderLockedBy(process.pid);
    writeFileSync(join(folder, 'server.lock'), JSON.stringify({ pid: process.pid, born: 'before the last boot' }));
    lockDataDirectory(folder)();
  });
});
