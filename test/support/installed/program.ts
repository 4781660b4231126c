import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, mkdtempSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../running/eventually.js';
import { runFolder } from '../servers/test-run.js';

/** A program of Debian's that runs until its test ends it. */
export interface Program {
  readonly port: number;
  output(): string;
  stop(): Promise<void>;
}

/** A folder of the run's that whichever user a program runs as can write to. */
export function openFolder(name: string): string {
  const folder = mkdtempSync(join(runFolder(), `${name}-`));
  chmodSync(folder, 0o777);
  return folder;
}

export function write(folder: string, name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  chmodSync(path, 0o644);
  return path;
}

/** Resolves once it takes connections on the port. Signals go to the whole group: some programs have workers. */
export async function startProgram(command: string, args: readonly string[], port: number): Promise<Program> {
  const env = { PATH: `/usr/sbin:${process.env.PATH}` };
  const child = spawn(command, [...args], { env, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part: Buffer) => (said += part.toString()));
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async () => {
    signal(child, 'SIGTERM');
    await gone;
  };
  try {
    await eventually(async () => {
      if (child.exitCode !== null) throw new Error(`${command} ended with ${child.exitCode}: ${said}`);
      await reached(port);
    }, { within: 20_000 });
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, output: () => said, stop };
}

function signal(child: ChildProcess, name: NodeJS.Signals): void {
  if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, name);
}

function reached(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy();
      resolve();
    });
    socket.once('error', reject);
  });
}
