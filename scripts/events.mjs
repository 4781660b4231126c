// Writes docs/events.md from the catalogue of audit events; with --check fails when the committed page says something else.
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import process from 'node:process';
import { prepareOrExit } from './prepare.mjs';

const PAGE = new URL('../docs/events.md', import.meta.url);
const CATALOGUE = new URL('../dist/src/domain/audit/catalogue/audit-events.js', import.meta.url);

prepareOrExit();
const { EVENTS } = await import(CATALOGUE.href);
const page = pageOf(EVENTS);

if (process.argv.includes('--check')) {
  const committed = existsSync(PAGE) ? await readFile(PAGE, 'utf8') : '';
  if (committed !== page) {
    console.error('docs/events.md is not what the catalogue says. Run `node scripts/events.mjs` and commit the result.');
    process.exit(1);
  }
  console.log('docs/events.md is up to date.');
} else {
  await mkdir(new URL('.', PAGE), { recursive: true });
  await writeFile(PAGE, page);
  console.log(`docs/events.md: ${Object.keys(EVENTS).length} event types.`);
}

function pageOf(events) {
  const groups = Map.groupBy?.(Object.entries(events), ([type]) => type.split('.')[0]) ?? grouped(events);
  return [
    '# Audit events',
    '',
    'Every entry of the audit log is one of these. Generated from the catalogue in `src/domain/audit`; do not edit.',
    '',
    'A member of `metadata` is **plain** (it stands in the hashed payload as it is), a **value** (committed whole by a salted',
    'digest, so that it can be erased) or **members** (committed member by member). `?` marks what may be left out; a *flag*',
    'stands only when true. `outcome` is what the entry says unless noted; `—` where the event is no outcome yet. `capability`',
    'is a column and a hashed member of the entry. The chain is the one that the entry is appended to.',
    '',
    ...[...groups].flatMap(([group, members]) => [`## ${group}`, '', ...members.flatMap(eventLines)]),
  ].join('\n');
}

function grouped(events) {
  const groups = new Map();
  for (const entry of Object.entries(events)) {
    const group = entry[0].split('.')[0];
    groups.set(group, [...(groups.get(group) ?? []), entry]);
  }
  return groups;
}

function eventLines([type, { chain, doc, capability, outcome, members }]) {
  const facts = [
    `chain: ${chain.replaceAll('_', ' ')}`,
    `outcome: ${outcome ? `\`${outcome}\`` : '—'}`,
    ...(capability ? ['`capability` stands on it'] : []),
  ];
  const rows = Object.entries(members).map(
    ([name, member]) => `| \`${name}\`${member.optional ? '?' : ''} | ${kindOf(member)} |`,
  );
  return [`### ${type}`, '', doc, '', facts.join(' · '), '', '| metadata | kind |', '|---|---|', ...rows, ''];
}

function kindOf({ kind, flag, subject, personal, subjectKeys }) {
  const notes = [
    ...(flag ? ['flag'] : []),
    ...(subject ? ['names a user'] : []),
    ...(personal ? ["that user's personal data"] : []),
    ...(subjectKeys ? [`${subjectKeys.map((key) => `\`${key}\``).join(', ')} may name a user`] : []),
  ];
  return notes.length ? `${kind} (${notes.join('; ')})` : kind;
}
