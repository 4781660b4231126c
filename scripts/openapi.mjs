// Writes openapi.json from the built server's routes, and from it the types of the SDK (sdk/src/wire.ts); with --check fails when a
// committed file says something else. The generator of the types stands in test/peers, with packages of its own.
import { readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { prepareOrExit, preparePeersOrExit } from './prepare.mjs';
import { wireTypes } from './sdk/wire.mjs';

const BUILT = new URL('../dist/src/', import.meta.url);

prepareOrExit();
preparePeersOrExit();
const { NestFactory } = await import('@nestjs/core');
const { AppModule } = await import(new URL('app.module.js', BUILT).href);
const { buildOpenApi } = await import(new URL('platform/http/openapi/openapi.js', BUILT).href);

// Preview makes no providers, so neither a database nor a secret is needed.
const app = await NestFactory.create(AppModule.forRoot({}, undefined), { preview: true, logger: ['error'], abortOnError: false });
const document = buildOpenApi(app);
await app.close();
const made = { 'openapi.json': `${JSON.stringify(document, null, 2)}\n`, 'sdk/src/wire.ts': wireTypes(document) };

let differs = false;
for (const [name, text] of Object.entries(made)) {
  const file = new URL(`../${name}`, import.meta.url);
  if (!process.argv.includes('--check')) await writeFile(file, text);
  else if (!existsSync(file) || (await readFile(file, 'utf8')) !== text) {
    differs = true;
    console.error(`${name} is not what the routes declare. Run \`npm run openapi\` and commit the result.`);
  }
}
const done = process.argv.includes('--check') ? 'are up to date' : 'written';
if (!differs) console.log(`${Object.keys(document.paths).length} paths, ${Object.keys(made).join(' and ')} ${done}.`);
process.exit(differs ? 1 : 0);
