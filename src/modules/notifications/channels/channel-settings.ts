import type { Channel } from '../../../domain/notifications/events.js';
import { webhookSecret } from '../../../platform/config/value-types.js';
import type { FieldError } from '../../../platform/http/reply/problem.js';
import type { WebhookSettings } from './channel-config.js';

/** Members of settings, by channel; all of them texts. */
export const SETTINGS = {
  email: [],
  slack: ['webhookUrl', 'botToken', 'channel', 'signingSecret'],
  teams: ['webhookUrl'],
  webhook: ['url', 'secret'],
  in_app: [],
} as const satisfies Record<Channel, readonly SettingName[]>;

export type SettingName = 'webhookUrl' | 'botToken' | 'channel' | 'signingSecret' | 'url' | 'secret';

/** Settings as they are kept: what was set, and of a webhook the former secret. */
export type StoredSettings = Readonly<Partial<Record<SettingName | keyof Pick<WebhookSettings, 'formerSecret' | 'formerUntil'>, string>>>;

/** What a call sets. Null takes a member away; one that is left out stays. */
export type WantedSettings = Partial<Record<SettingName, string | null>>;

const HIDDEN = '********';
/** Whoever knows such an address may post to it. */
const ADDRESSES: ReadonlySet<SettingName> = new Set<SettingName>(['webhookUrl', 'url']);
const FORMER_SECRET_MS = 24 * 3_600_000;

/** Settings without secrets: of an address its origin is shown. */
export function masked(channel: Channel, settings: StoredSettings): Record<string, string> {
  const names: readonly SettingName[] = SETTINGS[channel];
  return Object.fromEntries(names.flatMap((name) => {
    const value = settings[name];
    return value === undefined ? [] : [[name, maskOf(name, value)]];
  }));
}

function maskOf(name: SettingName, value: string): string {
  if (name === 'channel') return value;
  return ADDRESSES.has(name) && URL.canParse(value) ? `${new URL(value).origin}/${HIDDEN}` : HIDDEN;
}

/** The former settings with what a call changes. A secret that comes back as it was shown was not meant to be changed. */
export function mergedSettings(channel: Channel, former: StoredSettings, wanted: WantedSettings, now: Date): StoredSettings {
  const names: readonly SettingName[] = SETTINGS[channel];
  const merged: Partial<Record<SettingName, string>> = {};
  for (const name of names) {
    const [before, after] = [former[name], wanted[name]];
    const isKept = after === undefined || (before !== undefined && after === maskOf(name, before));
    const value = isKept ? before : after;
    if (value !== undefined && value !== null) merged[name] = value;
  }
  return { ...merged, ...formerSecretOf(former, merged.secret, now) };
}

/** A webhook's secret that was replaced signs along for a day. */
function formerSecretOf({ secret, formerSecret, formerUntil }: StoredSettings, next: string | undefined, now: Date): StoredSettings {
  if (next === undefined) return {};
  if (secret !== undefined && secret !== next) {
    return { formerSecret: secret, formerUntil: new Date(now.getTime() + FORMER_SECRET_MS).toISOString() };
  }
  const isGood = formerUntil !== undefined && now < new Date(formerUntil);
  return formerSecret !== undefined && isGood ? { formerSecret, formerUntil } : {};
}

/** What a call sets that is none of the channel's. */
export function strangers(channel: Channel, wanted: WantedSettings): FieldError[] {
  const names: readonly string[] = SETTINGS[channel];
  const known = names.length === 0 ? 'it has none' : `it has ${names.join(', ')}`;
  const foreign = Object.entries(wanted).filter(([name, value]) => value !== undefined && !names.includes(name));
  return foreign.map(([name]) => ({ pointer: `/settings/${name}`, message: `is no setting of ${channel}: ${known}` }));
}

/** What is missing before the channel can be on, and what cannot be right. */
export function settingProblems(channel: Channel, settings: StoredSettings, enabled: boolean): FieldError[] {
  const problems: FieldError[] = [];
  const say = (name: SettingName, message: string): void => void problems.push({ pointer: `/settings/${name}`, message });
  const needs = (name: SettingName): void => {
    if (enabled && settings[name] === undefined) say(name, 'is required while the channel is enabled');
  };
  if (channel === 'teams') needs('webhookUrl');
  if (channel === 'webhook') {
    needs('url');
    needs('secret');
    const [issue] = settings.secret === undefined ? [] : (webhookSecret().safeParse(settings.secret).error?.issues ?? []);
    if (issue) say('secret', issue.message);
  }
  if (channel === 'slack') {
    if (settings.botToken === undefined) needs('webhookUrl');
    else if (settings.channel === undefined) say('channel', 'is required beside botToken: the id of the channel to post to');
  }
  return problems;
}

/** Addresses that a call has changed: each is checked before it is taken. */
export function changedAddresses(former: StoredSettings, settings: StoredSettings): [SettingName, string][] {
  return [...ADDRESSES].flatMap((name) => {
    const value = settings[name];
    return value === undefined || value === former[name] ? [] : [[name, value] as [SettingName, string]];
  });
}
