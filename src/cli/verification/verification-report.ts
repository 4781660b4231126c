import type { AnchorNotCompared } from '../../modules/audit/anchors/ask-anchors.js';
import type { Verification } from '../../modules/audit/verification/verification-result.js';
import type { ArchivesMember } from './with-archives.js';

const SHOWN = 50;

/**
 * What a person reads after a verification: the verdict first, then what it rests on.
 *
 * @param agentId whose chain alone was asked for
 */
export function verificationReport(outcome: Verification, colour: boolean, agentId?: string): string {
  const style = (code: number) => (text: string) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
  const [bold, dim, red, green] = [style(1), style(2), style(31), style(32)];
  const seconds = (outcome.durationMs / 1_000).toFixed(1);
  const amount = `${counted(outcome.entries, 'entry', 'entries')} in ${counted(outcome.chains, 'chain', 'chains')}, read in ${seconds} s`;
  const read = [amount, ...judged(outcome)].map((line) => `    ${dim(line)}`);
  if (outcome.valid) {
    const what = agentId === undefined ? 'The audit log' : `The chain of agent ${agentId}`;
    const lines = ['', `  ${green('✔')} ${bold(green(`${what} is as it was written.`))}`, '', ...read];
    lines.push(...vouchedFor(outcome).map((line) => `    ${dim(line)}`));
    return `${lines.join('\n')}\n\n`;
  }

  const width = Math.max(...outcome.breaks.map(({ kind }) => kind.length));
  const headline = `The audit log was tampered with: ${counted(outcome.breaksFound, 'break', 'breaks')}.`;
  const lines = ['', `  ${red('✘')} ${bold(red(headline))}`, '', ...read, ''];
  for (const { kind, detail, entryId } of outcome.breaks.slice(0, SHOWN)) {
    lines.push(`    ${red(kind.padEnd(width))}  ${detail}`);
    if (entryId !== null) lines.push(`    ${' '.repeat(width)}  ${dim(entryId)}`);
  }
  const more = outcome.breaksFound - Math.min(SHOWN, outcome.breaks.length);
  if (more > 0) lines.push('', dim(`    … and ${more.toLocaleString('en')} more; --json lists the first 1,000.`));
  return `${lines.join('\n')}\n\n`;
}

const WHY_NOT: Record<AnchorNotCompared['because'], string> = {
  no_answer: 'it could not be asked',
  nothing_kept: 'it has nothing of this log',
  shown_nothing: 'it answers only to a checkpoint that it is shown, which servers do',
  other_history: 'it named a size that is none of this log',
};

/** What the verdict rests on beside the log itself. */
function vouchedFor({ checkpoint, uncovered, anchorsNotCompared }: Verification): string[] {
  const silent = anchorsNotCompared.map(({ name, because }) => `not compared with the anchor ${name}: ${WHY_NOT[because]}`);
  if (!checkpoint) return ['No checkpoint yet: nothing outside of this log vouches for it.', ...silent];
  const { size, madeAt, anchors } = checkpoint;
  const known = anchors.length === 0 ? 'compared with no anchor' : `anchors: ${anchors.map(({ name }) => name).join(', ')}`;
  return [
    `checkpoint ${size.toLocaleString('en')} of ${madeAt}; ${known}`,
    ...silent,
    ...(uncovered === 0 ? [] : [`${counted(uncovered, 'entry is', 'entries are')} younger than the last checkpoint.`]),
  ];
}

/** What was found beside the entries: archives, whether rows and entries agree, and whether the gate was right. */
function judged({ members }: Verification): string[] {
  const { completeness, replay, archives } = members as unknown as Partial<Judged & ArchivesMember>;
  const swept = archives
    ? [`${counted(archives.checked, 'archive', 'archives')} with ${counted(archives.entries, 'swept entry', 'swept entries')}, ` +
        (archives.breaks === 0 ? 'as they were swept' : `altered in ${counted(archives.breaks, 'place', 'places')}`)]
    : [];
  if (!completeness || !replay) return [...swept, 'integrity only: not compared with rows, and nothing of the gate decided anew'];
  const agree = completeness.breaks === 0 ? 'all agree' : `${completeness.breaks.toLocaleString('en')} do not`;
  const right = replay.wrong === 0 ? 'all right' : `${replay.wrong.toLocaleString('en')} wrong`;
  const left = Object.entries(replay.notReplayable).map(([because, count]) => `; ${count.toLocaleString('en')} not replayable: ${because}`);
  return [
    ...swept,
    `${counted(completeness.checked, 'row', 'rows')} compared with entries, ${agree}`,
    `${counted(replay.right + replay.wrong, 'decision', 'decisions')} of the gate decided anew, ${right}${left.join('')}`,
  ];
}

interface Judged {
  readonly completeness: { readonly checked: number; readonly breaks: number };
  readonly replay: { readonly right: number; readonly wrong: number; readonly notReplayable: Readonly<Record<string, number>> };
}

export function counted(count: number, one: string, many: string): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`;
}
