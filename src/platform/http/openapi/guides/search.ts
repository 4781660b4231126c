import { isJsonObject, type JsonObject, type JsonValue } from '../../../../domain/json.js';
import { type Guides, type Guide } from './guides.js';

/** An entry of the search: an operation of the API, or a page. */
export interface SearchEntry {
  readonly href: string;
  /** GET, POST … of an operation. */
  readonly method?: string;
  /** The path of an operation, the title of a page. */
  readonly title: string;
  readonly summary: string;
  /** Names of an operation's parameters and of the members of its bodies. */
  readonly members: readonly string[];
  /** What else it says, which counts least. */
  readonly text: string;
  readonly tag: string;
}

export interface Found extends SearchEntry {
  /** Members that a word of the search was met in. */
  readonly met: readonly string[];
}

const RESULTS_MAX = 30;
const WORDS_MAX = 8;
const MEMBERS_SHOWN = 4;
const METHODS = ['get', 'post', 'put', 'patch', 'delete'];

/** Everything that can be found: the pages in their order, then the operations in the order of the document's tags. */
export function searchEntriesOf(document: JsonObject, { howTo, index, glossary }: Guides): SearchEntry[] {
  return [...[...howTo, index, glossary].map(pageEntry), ...operationEntries(document)];
}

/**
 * The entries in which every word of the query is met, those first where it is met most plainly. Case, underscores and the two ways to
 * write a path parameter do not matter.
 */
export function findEntries(entries: readonly SearchEntry[], query: string): Found[] {
  const words = folded(query).split(/\s+/).filter((word) => word !== '').slice(0, WORDS_MAX);
  if (words.length === 0) return [];
  const ranked = entries.flatMap((entry) => {
    const weights = words.map((word) => weightOf(entry, word));
    if (weights.includes(0)) return [];
    const met = entry.members.filter((name) => words.some((word) => folded(name).includes(word))).slice(0, MEMBERS_SHOWN);
    return [{ ...entry, met, weight: weights.reduce((sum, weight) => sum + weight) }];
  });
  return ranked.sort((a, b) => b.weight - a.weight).slice(0, RESULTS_MAX);
}

function weightOf(entry: SearchEntry, word: string): number {
  const head = folded(`${entry.method ?? ''} ${entry.title} ${entry.summary}`);
  const parts = head.split(/[^\p{L}\p{N}]+/u);
  if (parts.includes(word)) return 12;
  if (parts.some((part) => part.startsWith(word))) return 11;
  if (head.includes(word)) return 8;
  const members = entry.members.map(folded);
  if (members.includes(word)) return 6;
  if (folded(entry.tag).includes(word)) return 4;
  if (members.some((name) => name.includes(word))) return 3;
  return folded(entry.text).includes(word) ? 1 : 0;
}

/** `hitl_mode` and `hitlMode` are one, and so are `:id` and `{id}`. */
function folded(text: string): string {
  return text.toLowerCase().replaceAll('_', '').replace(/:(\w+)/g, '{$1}');
}

function pageEntry({ path, title, lead, markdown }: Guide): SearchEntry {
  return { href: path, title, summary: lead, members: [], text: markdown, tag: 'How-to' };
}

function operationEntries(document: JsonObject): SearchEntry[] {
  const order = list(document.tags).map((tag) => text(member(tag, 'name')));
  const rank = ({ tag }: SearchEntry) => (order.includes(tag) ? order.indexOf(tag) : order.length);
  const entries = Object.entries(object(document.paths)).flatMap(([path, item]) =>
    METHODS.filter((method) => isJsonObject(member(item, method))).map((method) =>
      operationEntry(document, { method, path, operation: object(member(item, method)) })));
  return entries.sort((a, b) => rank(a) - rank(b));
}

function operationEntry(
  document: JsonObject, { method, path, operation }: { method: string; path: string; operation: JsonObject },
): SearchEntry {
  const tag = text(list(operation.tags)[0]);
  const id = text(operation.operationId);
  const names = new Set<string>();
  for (const parameter of list(operation.parameters)) names.add(text(member(meant(document, parameter), 'name')));
  const bodies = [operation.requestBody, ...answers(operation)]
    .flatMap((body) => Object.values(object(member(meant(document, body), 'content'))));
  const seen = new Set<string>();
  for (const body of bodies) collectMembers(document, member(body, 'schema'), { names, seen });
  return {
    // Swagger UI opens the operation that its own form of an anchor names.
    href: `/docs#/${encodeURIComponent(tag)}/${encodeURIComponent(id)}`,
    method: method.toUpperCase(), title: path, summary: text(operation.summary), members: [...names],
    text: `${text(operation.description)} ${id}`, tag,
  };
}

/** Bodies of what went well: refusals are alike everywhere. */
function answers(operation: JsonObject): (JsonValue | undefined)[] {
  return Object.entries(object(operation.responses)).filter(([status]) => status.startsWith('2')).map(([, answer]) => answer);
}

/** Walks a schema to its last member, through references, each once. */
function collectMembers(
  document: JsonObject, schema: JsonValue | undefined, into: { names: Set<string>; seen: Set<string> },
): void {
  const { $ref, properties, items, additionalProperties, allOf, anyOf, oneOf } = object(schema);
  if (typeof $ref === 'string') {
    if (into.seen.has($ref)) return;
    into.seen.add($ref);
    return collectMembers(document, meant(document, schema), into);
  }
  for (const [name, part] of Object.entries(object(properties))) {
    into.names.add(name);
    collectMembers(document, part, into);
  }
  const parts = [items, additionalProperties, ...list(allOf), ...list(anyOf), ...list(oneOf)];
  for (const part of parts.filter((one) => one !== undefined)) collectMembers(document, part, into);
}

/** What a reference within the document leads to; anything else is itself. */
function meant(document: JsonObject, value: JsonValue | undefined): JsonValue | undefined {
  const { $ref } = object(value);
  if (typeof $ref !== 'string') return value;
  return $ref.split('/').slice(1).reduce<JsonValue | undefined>((part, name) => member(part, name), document);
}

const object = (value: JsonValue | undefined): JsonObject => (value !== undefined && isJsonObject(value) ? value : {});
const list = (value: JsonValue | undefined): readonly JsonValue[] => (Array.isArray(value) ? value : []);
const text = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : '');
const member = (value: JsonValue | undefined, name: string): JsonValue | undefined => object(value)[name];
