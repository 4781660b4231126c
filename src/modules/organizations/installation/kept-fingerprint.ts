/** What the database keeps of one secret, so that no server starts that others would not understand, or that would not understand them. */
export interface KeptFingerprint {
  /** Of the one that signs or seals. */
  readonly inUse: string;
  /** Servers accept it already, and none makes anything with it. */
  readonly next?: string;
  /** What was made with it still counts. `since`: when the last server has started with its successor in use, in Unix seconds. */
  readonly former?: { readonly fingerprint: string; readonly since: number };
  /** None of them counts any more, whoever has it. */
  readonly leaked: readonly string[];
}

/** A server's secrets as fingerprints: the one in use, and the one that it accepts besides. */
export type PresentFingerprints = readonly [inUse: string, accepted?: string];

/** `<in use> [+<next> | -<former>@<since>] [!<leaked> …]`; before any rotation the one fingerprint alone. */
export function parseKept(text: string): KeptFingerprint {
  const [inUse = '', ...words] = text.split(' ');
  const next = words.find((word) => word.startsWith('+'))?.slice(1);
  const [former, since] = words.find((word) => word.startsWith('-'))?.slice(1).split('@') ?? [];
  return {
    inUse,
    ...(next === undefined ? {} : { next }),
    ...(former === undefined ? {} : { former: { fingerprint: former, since: Number(since) } }),
    leaked: words.filter((word) => word.startsWith('!')).map((word) => word.slice(1)),
  };
}

export function keptText({ inUse, next, former, leaked }: KeptFingerprint): string {
  return [
    inUse, ...(next === undefined ? [] : [`+${next}`]), ...(former === undefined ? [] : [`-${former.fingerprint}@${former.since}`]),
    ...leaked.map((one) => `!${one}`),
  ].join(' ');
}

export type Judged = { readonly ok: true; readonly kept: KeptFingerprint } | { readonly ok: false; readonly because: string };

const NOT_THE_ONE = 'is not the one that this database was set up with. Start with the same secrets as the other replicas.';

/**
 * Whether a server may start with these, and what is kept from then on. Each step of a rotation is one that servers of the step before
 * can live with: the next one is accepted by servers before any of them uses it, and the former one is not left out before it has ended.
 *
 * @param now in Unix seconds
 */
export function judgeSecret(kept: KeptFingerprint, [inUse, accepted]: PresentFingerprints, now: number): Judged {
  const refused = (because: string): Judged => ({ ok: false, because });
  const former = kept.former?.fingerprint;
  if ([inUse, accepted].some((one) => one !== undefined && kept.leaked.includes(one))) {
    return refused('has leaked and counts no more, neither in use nor accepted: leave it out.');
  }
  if (inUse === kept.inUse) {
    if (former === undefined) return { ok: true, kept: accepted === undefined ? kept : { ...kept, next: accepted } };
    if (accepted === former) return { ok: true, kept };
    return refused('was replaced, and the former one still counts: set it as the accepted one, until `countersign secrets rotate --end`.');
  }
  if (inUse !== kept.next && inUse !== former) {
    return refused(accepted === kept.inUse
      ? 'is not known to the other servers yet: first start each of them with it as the accepted one.' : NOT_THE_ONE);
  }
  if (accepted !== kept.inUse) return refused('needs the one that is in use at other servers as the accepted one.');
  return { ok: true, kept: { inUse, former: { fingerprint: kept.inUse, since: now }, leaked: kept.leaked } };
}
