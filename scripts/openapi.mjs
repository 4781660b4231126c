// Writes openapi.json from the built server's routes; with --check fails when the committed file says something else.
import { readFile, writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import process from 'node:process';
import { prepareOrExit } from './prepare.mjs';

const FILE = new URL('../openapi.json', import.meta.url);
const BUILT = new URL('../dist/src/', import.meta.url);

prepareOrExit();
const { NestFactory } = await import('@nestjs/core');
const { AppModule } = await import(new URL('app.module.js', BUILT).href);
const { buildOpenApi } = await import(new URL('platform/http/openapi/openapi.js', BUILT).href);

// Preview makes no providers, so neither a database nor a secret is needed.
const app = await NestFactory.create(AppModule.forRoot({}, undefined), { preview: true, logger: ['error'], abortOnError: false });
const made = `${JSON.stringify(buildOpenApi(app), null, 2)}\n`;
await app.close();

if (process.argv.includes('--check')) {
  const committed = existsSync(FILE) ? await readFile(FILE, 'utf8') : '';
  if (committed !== made) {
    console.error('openapi.json is not what the routes declare. Run `npm run openapi` and commit the result.');
    process.exit(1);
  }
  console.log('openapi.json is up to date.');
} else {
  await writeFile(FILE, made);
  console.log(`openapi.json: ${Object.keys(JSON.parse(made).paths).length} paths.`);
}
process.exit(0);
