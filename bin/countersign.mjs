#!/usr/bin/env node
// The command line. `secrets` runs in a bare checkout; everything else first installs and builds what is missing.
import { generateKeyPairSync, randomBytes } from 'node:crypto';

const [command, ...rest] = process.argv.slice(2);

// Whoever reads may have read enough (`| head`). What a command does it does to its end, and its exit code is what it would be.
if (command !== 'start') for (const stream of [process.stdout, process.stderr]) stream.on('error', quietWhereNobodyReads);

if (command === 'secrets' && rest.every((word) => word.startsWith('-') && word !== '--help' && word !== '-h')) secrets(rest);
else if (command === 'start' && rest.length === 0) await import('../scripts/start.mjs');
else {
  const { prepareOrExit } = await import('../scripts/prepare.mjs');
  prepareOrExit();
  await import('../dist/src/cli/main.js');
}

function quietWhereNobodyReads(error) {
  if (error.code !== 'EPIPE') throw error;
}

/** Prints a fresh set for an environment file. Nothing is stored. */
function secrets(words) {
  const unknown = words.filter((word) => word !== '--json');
  if (unknown.length > 0) {
    process.stderr.write(`countersign secrets: unknown argument ${JSON.stringify(unknown[0])}; it takes only --json\n`);
    process.exitCode = 2;
    return;
  }
  const set = {
    JWT_SECRET: randomBytes(48).toString('base64url'),
    ENCRYPTION_KEY: randomBytes(32).toString('base64'),
    AUDIT_SIGNING_KEY: ed25519Seed().toString('base64'),
    INTERNAL_API_KEY: randomBytes(48).toString('base64url'),
  };
  const lines = Object.entries(set).map(([name, value]) => `${name}=${value}\n`);
  process.stdout.write(words.includes('--json') ? `${JSON.stringify(set, undefined, 2)}\n` : lines.join(''));
}

/** The last 32 bytes of the PKCS #8 form are the seed (RFC 8410 section 7). */
function ed25519Seed() {
  return generateKeyPairSync('ed25519').privateKey.export({ format: 'der', type: 'pkcs8' }).subarray(-32);
}
