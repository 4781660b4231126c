import { readFileSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { UsageError, commandOutput } from './command-output.js';

export interface KeyOptions {
  readonly key?: string;
  readonly keyFile?: string;
}

export const keyOption = () =>
  new Option('--key <key>', 'your key or token; default: --key-file, else COUNTERSIGN_KEY or COUNTERSIGN_KEY_FILE').conflicts('keyFile');

export const keyFileOption = () =>
  new Option('--key-file <file>', 'file that holds it: unlike --key no other user of this machine sees it');

/** What options and variables name, the former first; the option's file before the variables. @throws UsageError for a file without one */
export function givenKey({ key, keyFile }: KeyOptions, env: NodeJS.ProcessEnv): string | undefined {
  if (key !== undefined) return key;
  const file = keyFile ?? (env['COUNTERSIGN_KEY'] ? undefined : env['COUNTERSIGN_KEY_FILE']);
  return (file ? keyIn(file) : env['COUNTERSIGN_KEY']) || undefined;
}

function keyIn(file: string): string {
  try {
    const key = readFileSync(file, 'utf8').trim();
    if (key === '') throw new UsageError(`the file of the key is empty: ${file}`);
    return key;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`the file of the key cannot be read (${(error as NodeJS.ErrnoException).code}): ${file}`);
  }
}

/** Says on standard error which secret was given as an argument: those stand in the list of processes, for every user of the machine. */
export function sayVisibleSecrets(command: Command): void {
  const { key, databaseUrl } = command.opts<{ key?: string; databaseUrl?: string }>();
  const hasPassword = databaseUrl !== undefined && URL.canParse(databaseUrl) && new URL(databaseUrl).password !== '';
  const visible = [
    ...key === undefined ? [] : ['--key: give --key-file, COUNTERSIGN_KEY or COUNTERSIGN_KEY_FILE'],
    ...hasPassword ? ['the password in --database-url: give DATABASE_URL or DATABASE_URL_FILE'] : [],
  ];
  const { say } = commandOutput(nameOf(command));
  for (const instead of visible) say(`other users of this machine see ${instead} instead`);
}

/** As it is typed: `audit verify`. */
function nameOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${nameOf(parent)} ${command.name()}` : command.name();
}
