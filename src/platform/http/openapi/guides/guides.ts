import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { checkoutRoot } from '../../../config/checkout-root.js';

/** A document of ours that the server shows as a page. */
export interface Guide {
  /** Where the server shows it. */
  readonly path: string;
  readonly title: string;
  /** Its first sentence, as plain text. */
  readonly lead: string;
  readonly markdown: string;
  readonly html: string;
}

export const HOW_TO_PATH = '/docs/how-to';
export const GLOSSARY_PATH = '/docs/glossary';

export interface Guides {
  /** The page that lists the how-to pages. */
  readonly index: Guide;
  /** In the order of their names above. */
  readonly howTo: readonly Guide[];
  readonly glossary: Guide;
}

/** The how-to pages in the order in which they are read, each the name of a file in docs/how-to. */
export const HOW_TO_NAMES = [
  'connector', 'secrets', 'condition', 'named-approver', 'quorum', 'limits', 'waiting-and-idempotency', 'edits', 'erasure', 'verification',
  'rotation',
] as const;

const HOW_TO = 'docs/how-to';
const SERVED: readonly [file: RegExp, path: string][] = [
  [/^docs\/how-to\/README\.md$/, HOW_TO_PATH],
  [/^docs\/how-to\/([a-z-]+)\.md$/, `${HOW_TO_PATH}/$1`],
  [/^docs\/glossary\.md$/, GLOSSARY_PATH],
];

/** Reads and renders the documents that are pages here. */
export async function readGuides(): Promise<Guides> {
  const files = [`${HOW_TO}/README.md`, 'docs/glossary.md', ...HOW_TO_NAMES.map((name) => `${HOW_TO}/${name}.md`)];
  const [index, glossary, ...howTo] = await Promise.all(files.map(read));
  return { index: index!, glossary: glossary!, howTo };
}

async function read(file: string): Promise<Guide> {
  // Loaded with the first page that somebody asks for: most servers never show one.
  const { renderMarkdown } = await import('./markdown.js');
  const markdown = await readFile(join(checkoutRoot(), file), 'utf8');
  const [, title = file] = /^# (.+)$/m.exec(markdown) ?? [];
  const [, first = ''] = /^# .+\n+([^]+?)(?:\n\n|$)/.exec(markdown) ?? [];
  return {
    path: servedAt(file)!, title, lead: firstSentence(first), markdown,
    html: renderMarkdown(markdown, (href) => resolveLink(file, href)),
  };
}

/** A link as it stands in a file of the checkout, as it leads on this server. */
function resolveLink(file: string, href: string): string | undefined {
  if (/^(?:https?:|#)/.test(href)) return href;
  const [path = '', anchor] = href.split('#');
  const served = servedAt(posix.join(posix.dirname(file), path));
  return served === undefined || anchor === undefined ? served : `${served}#${anchor}`;
}

function servedAt(file: string): string | undefined {
  const [pattern, path] = SERVED.find(([one]) => one.test(file)) ?? [];
  return pattern === undefined ? undefined : file.replace(pattern, path!);
}

function firstSentence(paragraph: string): string {
  const plain = paragraph.replaceAll('\n', ' ').replace(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll('*', '').replaceAll('`', '');
  return /^.*?[.?!](?= |$)/.exec(plain)?.[0] ?? plain;
}
