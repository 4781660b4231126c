import { asSession, originOf } from '../builders/tenants.js';
import type { BuiltPerson } from '../builders/people.js';
import { Browser, type Page } from '../http/browser.js';
import { startProduct } from '../servers/product-process.js';
import type { TestServer } from '../servers/server.js';

/** A form of a page, with the fields that go along if somebody sends it back as it came. */
export interface ShownForm {
  readonly action: string;
  readonly fields: Readonly<Record<string, string>>;
}

const ENTITIES: Readonly<Record<string, string>> = { lt: '<', gt: '>', quot: '"', '#39': "'", amp: '&' };
const decoded = (text: string) => text.replace(/&(lt|gt|quot|#39|amp);/g, (_, name: string) => ENTITIES[name]!);
const attribute = (tag: string, name: string) => decoded(new RegExp(`\\s${name}="([^"]*)"`).exec(tag)?.[1] ?? '');

/** Each form of a page as it stands: what is hidden, typed or checked; buttons are pressed by nobody. */
export function formsOf({ text }: Pick<Page, 'text'>): ShownForm[] {
  return [...text.matchAll(/<form method="post"([^>]*)>(.*?)<\/form>/gs)].map(([, open, inside]) => {
    const fields: Record<string, string> = {};
    for (const [tag] of inside!.matchAll(/<input[^>]*>/g)) {
      const isChoice = /\stype="radio"/.test(tag);
      if (!isChoice || /\schecked/.test(tag)) fields[attribute(tag, 'name')] = attribute(tag, 'value');
    }
    for (const [, tag, value] of inside!.matchAll(/<textarea([^>]*)>(.*?)<\/textarea>/gs)) {
      fields[attribute(tag!, 'name')] = decoded(value!);
    }
    return { action: attribute(open!, 'action'), fields };
  });
}

/** What a page says, as a person reads it. */
export const wordsOf = ({ text }: Pick<Page, 'text'>): string =>
  decoded(text.replace(/^.*<main[^>]*>/s, '').replaceAll(/<[^>]+>/g, ' ')).replaceAll(/\s+/g, ' ');

/** A browser in which this person is signed in. */
export async function signedIn(server: TestServer, person: Pick<BuiltPerson, 'id' | 'organizationId'>): Promise<Browser> {
  const browser = new Browser();
  browser.plant('localhost', 'countersign', (await asSession(server, person)).cookie.split('=')[1]!);
  return browser;
}

export const pageOf = (server: TestServer, requestId: string, side: 'approve' | 'reject' = 'approve'): string =>
  `${originOf(server)}/hitl/${requestId}/${side}`;

/** Opens the page and sends its first form (or the last), with these fields over those that stand in it. */
export async function decideOn(
  browser: Browser, address: string, fields: Readonly<Record<string, string>>, which: 'first' | 'last' = 'first',
): Promise<Page> {
  const shown = await browser.visit(address);
  const form = formsOf(shown).at(which === 'first' ? 0 : -1);
  if (form === undefined) throw new Error(`${address} shows no form (${shown.status}):\n${wordsOf(shown).slice(0, 2_000)}`);
  return browser.visit(form.action, { form: { ...form.fields, ...fields } });
}

/** Through which door an entry came. */
export async function viaOf(server: TestServer, entryId: string): Promise<string> {
  const [row] = await server.sql<{ via: string }>(
    `select payload::json -> 'origin' ->> 'via' as via from audit_entries where id = $1`, [entryId]);
  return row!.via;
}

export interface MailLinker {
  /** The links of a mail about this version of a request. */
  links(request: { readonly id: string; readonly organizationId: string; readonly digest: string }, userId: string):
  Promise<{ readonly approve: string; readonly reject: string }>;
  close(): Promise<void>;
}

/** Links as deliveries make them, led to this server. */
export async function startMailLinker(server: TestServer): Promise<MailLinker> {
  const { ask, close } = await startProduct('notifications/mail-linker.mjs', server.database);
  const led = (address: string) => `${originOf(server)}${address.slice(new URL(address).origin.length)}`;
  return {
    links: async (request, userId) => {
      const { approve, reject } = await ask<{ approve: string; reject: string }>('links', request, userId);
      return { approve: led(approve), reject: led(reject) };
    },
    close,
  };
}
