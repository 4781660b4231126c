// The words in which the event catalogue is written. A catalogue entry is data; the types of `AuditEvent` derive from it.

/**
 * `plain`: as it is, for our ids, codes, counts, times. `value`, `members`: committed, so that words of people and agents can be erased.
 */
export type MemberKind = 'plain' | 'value' | 'members';

export type Outcome = 'success' | 'failure' | 'blocked' | 'executed';

/** `organization` includes the platform's own; `agent_or_organization` is for events that may come after the agent's chain is closed. */
export type EventChain = 'agent' | 'organization' | 'platform' | 'agent_or_organization';

export interface Member<T = unknown, Optional extends boolean = boolean> {
  readonly kind: MemberKind;
  readonly optional: Optional;
  /** Stands only when true. */
  readonly flag?: true;
  /** Holds the id of a user whom the entry is about, and who finds it by `user_id`. */
  readonly subject?: true;
  /** Holds personal data of the entry's subject: found without a search when that person is erased. */
  readonly personal?: true;
  /** Names inside this members object that may hold a user's id. */
  readonly subjectKeys?: readonly string[];
  /** Carries the type; never there at run time. */
  readonly type?: T;
}

export type Members = Readonly<Record<string, Member>>;

export interface EventDefinition<M extends Members = Members, C extends boolean = boolean> {
  readonly chain: EventChain;
  readonly doc: string;
  /** Whether the column and hashed member `capability` stands on the entry. */
  readonly capability: C;
  /** Absent for an event that is no outcome yet. */
  readonly outcome: Outcome | undefined;
  readonly members: M;
}

/** In clear in the payload. Never for what a person or an agent wrote. */
export function plain<T>(options: { readonly subject?: true } = {}): Member<T, false> {
  return { kind: 'plain', optional: false, ...options };
}

/** Committed whole. */
export function value<T>(options: { readonly personal?: true } = {}): Member<T, false> {
  return { kind: 'value', optional: false, ...options };
}

/** Committed member by member. */
export function members<T>(options: { readonly subjectKeys?: readonly string[] } = {}): Member<T, false> {
  return { kind: 'members', optional: false, ...options };
}

/** A plain `true`, or not there. */
export function flag(): Member<boolean, true> {
  return { kind: 'plain', optional: true, flag: true };
}

export function optional<T>(member: Member<T, false>): Member<T, true> {
  return { ...member, optional: true };
}

/** An event without a capability of its own. */
export function event<M extends Members>(
  chain: EventChain, doc: string, memberKinds: M, outcome: Outcome = 'success',
): EventDefinition<M, false> {
  return { chain, doc, capability: false, outcome, members: memberKinds };
}

/** An event on whose entry `capability` stands. `null` says that it has no outcome. */
export function capabilityEvent<M extends Members>(
  chain: EventChain, doc: string, memberKinds: M, outcome: Outcome | null = 'success',
): EventDefinition<M, true> {
  return { chain, doc, capability: true, outcome: outcome ?? undefined, members: memberKinds };
}

type ValueOf<X> = X extends Member<infer T> ? T : never;
type RequiredNames<M extends Members> = { [K in keyof M]: M[K]['optional'] extends true ? never : K }[keyof M];

/** Joins an intersection into one object type: the compiler looks for unknown members only there. */
type Joined<T> = { [K in keyof T]: T[K] };

/** The metadata an event takes: typed, with the optional members optional. */
export type MetadataOf<M extends Members> = Joined<
  { readonly [K in RequiredNames<M>]: ValueOf<M[K]> } & {
    readonly [K in Exclude<keyof M, RequiredNames<M>>]?: ValueOf<M[K]> | undefined;
  }
>;
