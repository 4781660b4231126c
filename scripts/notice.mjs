// Writes NOTICE: what is shipped with the server, under which licence and by whom; with --check fails when the committed file says
// something else. From the lock file, and of what every installation has from the packages' own files: what is optional is not
// everywhere, and is named as the lock file has it, so that the file is the same on each platform.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { prepareOrExit, root } from './prepare.mjs';

const FILE = join(root, 'NOTICE');
/** What the lock file does not know: their packages say it in an older form. */
const KNOWN = { busboy: 'MIT', 'passport-strategy': 'MIT', streamsearch: 'MIT', ibantools: 'MIT OR MPL-2.0' };
/** What may be shipped with an Apache-2.0 work as it stands; another one wants to be looked at first. */
const ALLOWED = new Set([
  '0BSD', 'Apache-2.0', 'BSD-2-Clause', 'BSD-3-Clause', 'BlueOak-1.0.0', 'CC0-1.0', 'ISC', 'MIT', 'MIT-0', 'PostgreSQL',
  'Python-2.0', 'Unlicense',
]);
const LICENCE = /^(licen[cs]e|copying)([.-].*)?$/i;
const NOTICE = /^notice([.-].*)?$/i;
const COPYRIGHT = /^\W*(?:copyright:? (?!notice|holder|owner|licen[cs]e|statement|law|and )|(?:\(c\)|©) .*\d{4})/i;

prepareOrExit({ build: false });
const { packages } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
const shipped = Object.entries(packages)
  .filter(([path, { dev, link }]) => path.startsWith('node_modules/') && !dev && !link)
  .map(([path, { version, license, optional, devOptional }]) => {
    const name = path.split('node_modules/').at(-1);
    const said = (KNOWN[name] ?? license)?.replace(/^\((.*)\)$/, '$1');
    return { path, name, version, license: said, optional: Boolean(optional ?? devOptional) };
  })
  .sort((a, b) => (a.name === b.name ? compare(a.path, b.path) : compare(a.name, b.name)));
const refused = shipped.filter(({ license }) => !isAllowed(license)).map(({ name, license }) => `${name}: ${license ?? 'no licence'}`);
if (refused.length > 0) {
  console.error(`These licences have to be looked at before they are shipped:\n${refused.join('\n')}`);
  process.exit(1);
}
const text = notice(shipped);
if (!process.argv.includes('--check')) {
  writeFileSync(FILE, text);
  console.log(`NOTICE: ${shipped.length} packages.`);
} else if (committed() !== text) {
  console.error('NOTICE is not what the packages say. Run `node scripts/notice.mjs` and commit the result.');
  process.exitCode = 1;
} else console.log('NOTICE is up to date.');

function notice(all) {
  const [everywhere, optional] = [all.filter((one) => !one.optional), all.filter((one) => one.optional)];
  return [
    'Countersign', 'Licensed under the Apache License, Version 2.0 (LICENSE).', '',
    'Shipped with it, each with its licence in its folder below node_modules. Made by `node scripts/notice.mjs`; do not edit.', '',
    ...unique(everywhere).flatMap((one) => [headline(one), ...ownLines(one)]), '',
    'Optional, for trials and builds, not in the image; of those for a platform only its own is installed.', '',
    ...unique(optional).map(headline), '',
  ].join('\n');
}

function headline({ name, version, license }) {
  return `${name} ${version} (${license})`;
}

/** Who has written it, and what a NOTICE of its own says (Apache-2.0, section 4(d)). */
function ownLines({ path }) {
  const files = readdirSync(join(root, path));
  const linesOf = (pattern) => files.filter((file) => pattern.test(file)).sort()
    .flatMap((file) => readFileSync(join(root, path, file), 'utf8').split(/\r?\n/).map((line) => line.trim()));
  const authors = linesOf(LICENCE).filter((line) => COPYRIGHT.test(line) && !line.includes('[yyyy]'));
  return [...new Set([...authors, ...linesOf(NOTICE).filter((line) => line !== '')])].map((line) => `  ${line}`);
}

/** One that stands in several places of the tree, in the same version, once. */
function unique(all) {
  return all.filter((one, at) => all.findIndex((other) => headline(other) === headline(one)) === at);
}

/** An SPDX expression of which one alternative will do; parts joined by AND all have to. */
function isAllowed(license = '') {
  return license.replace(/[()]/g, '').split(/ OR /).some((one) => one.split(/ AND /).every((part) => ALLOWED.has(part)));
}

function committed() {
  try {
    return readFileSync(FILE, 'utf8');
  } catch {
    return '';
  }
}

/** By code units: a language of the machine's would sort otherwise. */
function compare(a, b) {
  return a < b ? -1 : Number(a > b);
}
