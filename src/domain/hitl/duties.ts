import type { Role } from '../access/access.js';
import { HIGHEST_LEVEL, type EscalationLevel } from './transition.js';

/** How strictly an organization parts those who ask from those who approve. */
export const SEPARATIONS = ['standard', 'strict'] as const;
export type SeparationOfDuties = (typeof SEPARATIONS)[number];

/** The least number of characters of a reason for breaking the glass, without invisible ones and white space at its ends. */
export const BREAK_GLASS_REASON_MIN = 10;

/** A person's membership of the agent's present team, and since when they have it and its role. */
export interface Membership {
  readonly role: 'member' | 'lead';
  readonly since: Date;
  readonly roleSince: Date;
}

/** A user who decides. */
export interface Person {
  readonly kind: 'person';
  readonly userId: string;
  readonly email?: string;
  readonly role: Role;
  readonly accountSince: Date;
  /** Since when the address is this one. */
  readonly addressSince: Date;
  readonly roleSince: Date;
  /** When the personal key was made that the person used, where they used one. */
  readonly keySince?: Date;
  /** Absent where the person is not in the agent's team. */
  readonly membership?: Membership;
}

export type Decider = { readonly kind: 'root' } | Person;

/** Who is behind an agent. */
export interface AgentTies {
  readonly ownerId?: string;
  readonly registeredBy?: string;
  readonly teamId?: string;
}

/** What of a request decides who may decide it. All but the level is fixed when the request is made. */
export interface RequestTies {
  readonly level: EscalationLevel;
  readonly createdAt: Date;
  readonly separationOfDuties: SeparationOfDuties;
  /** Users behind the action: ids, or e-mail addresses as an agent claimed them. */
  readonly initiators: readonly string[];
  /** Who vouched for the token of the call. */
  readonly vouchedBy?: string;
  /** Of a delegated task: who owns the agent that had it first. */
  readonly taskOwnerId?: string;
  readonly agent: AgentTies;
}

export interface OrganizationTies {
  readonly separationOfDuties: SeparationOfDuties;
  /** Nobody else could have decided: the organization has had one active user at most since the request was made. */
  readonly hasSingleUser: boolean;
  /**
   * For a name (a user's id, or a folded e-mail address): the accounts of that name, those who vouched for them, and so on. Two names
   * whose lists share an account count as one person.
   */
  readonly selves: ReadonlyMap<string, readonly string[]>;
}

export interface DutyCommand {
  /** `edit`: an edit that decides nothing; an edit that decides is an approval. */
  readonly kind: 'approve' | 'reject' | 'escalate' | 'edit';
  readonly breakGlass?: boolean;
  readonly reason?: string;
}

export interface DutyQuestion {
  readonly decider: Decider;
  readonly request: RequestTies;
  /** The agent's present ties. */
  readonly agent: AgentTies;
  /** The organization's present state. */
  readonly organization: OrganizationTies;
  readonly command: DutyCommand;
}

export type DutyResult =
  | {
      readonly kind: 'may';
      /** Whether the decider may decide only because they broke the glass. */
      readonly breakGlass: boolean;
      /** The highest level at which this decider may decide for this agent. */
      readonly highestLevel: EscalationLevel;
    }
  | MayNot;

export interface MayNot {
  readonly kind: 'may_not';
  readonly code: 'NOT_ELIGIBLE' | 'SELF_APPROVAL' | 'REASON_REQUIRED';
  readonly detail: string;
}

/**
 * Whether this decider may decide this request: by level (interface, section 3, escalation), then by separation of duties, which
 * bars approvals only: an initiator may always reject. Root is above both. An owner who is barred by separation of duties, and by
 * nothing else, may break the glass with a reason.
 */
export function judgeDecider({ decider, request, agent, organization, command }: DutyQuestion): DutyResult {
  const highestLevel = highestLevelOf(decider, agent, request.taskOwnerId);
  if (highestLevel === undefined || highestLevel < request.level) return mayNot('NOT_ELIGIBLE', WHO_DECIDES[request.level]);
  const may = { kind: 'may', breakGlass: false, highestLevel } as const;
  if (decider.kind === 'root' || command.kind !== 'approve' || organization.hasSingleUser) return may;
  const bar = separationBar(decider, request, agent, organization);
  if (bar === undefined) return may;
  return breakGlass(decider, command, highestLevel) ?? bar;
}

/**
 * Lets an owner, or root, decide although separation of duties or a quorum bars them, if they ask for it and give a reason.
 *
 * @returns undefined where the decider did not ask for it, or may not break the glass
 */
export function breakGlass(decider: Decider, command: DutyCommand, highestLevel: EscalationLevel): DutyResult | undefined {
  if (command.breakGlass !== true || (decider.kind === 'person' && decider.role !== 'owner')) return undefined;
  const seen = (command.reason ?? '').replace(/\p{C}/gu, '').trim();
  if ([...seen].length >= BREAK_GLASS_REASON_MIN) return { kind: 'may', breakGlass: true, highestLevel };
  return mayNot('REASON_REQUIRED', `To decide nevertheless, say why, in at least ${BREAK_GLASS_REASON_MIN} characters.`);
}

/** The highest level at which the decider may decide for this agent; undefined where at none. */
export function highestLevelOf(decider: Decider, agent: AgentTies, taskOwnerId?: string): EscalationLevel | undefined {
  if (decider.kind === 'root') return HIGHEST_LEVEL;
  switch (decider.role) {
    case 'owner':
    case 'admin':
      return HIGHEST_LEVEL;
    case 'member':
      if (decider.membership?.role === 'lead') return 1;
      return decider.membership || [agent.ownerId, taskOwnerId].includes(decider.userId) ? 0 : undefined;
    case 'viewer':
      return undefined;
  }
}

/** The stricter of two settings: the one of the request's making is never loosened by the present one. */
export function stricterOf(one: SeparationOfDuties, other: SeparationOfDuties): SeparationOfDuties {
  return one === 'strict' ? one : other;
}

/** How names of people are compared. Ids are lower case as they are made; an address is the same in any case. */
export function foldPerson(name: string): string {
  return name.trim().toLowerCase();
}

/** An e-mail address, as opposed to an id. */
export function isAddress(name: string): boolean {
  return name.includes('@');
}

/** Names of those who may not approve, and why, under this setting. */
export function barredFrom(
  request: RequestTies,
  agent: AgentTies,
  separation: SeparationOfDuties,
): readonly { readonly name: string; readonly because: string }[] {
  const initiators = request.initiators.map((name) => ({ name, because: INITIATED_IT }));
  if (separation === 'standard') return initiators;
  // The agent's ties when it asked and its present ones: handing the agent over meanwhile frees nobody.
  const ties: [string | undefined, string][] = [
    [request.agent.ownerId, OWNS_IT], [agent.ownerId, OWNS_IT],
    [request.agent.registeredBy, REGISTERED_IT], [agent.registeredBy, REGISTERED_IT],
    [request.taskOwnerId, 'You own the agent that had the task first.'],
    [request.vouchedBy, 'You vouched for the token that asked.'],
  ];
  return [...initiators, ...ties.flatMap(([name, because]) => (name === undefined ? [] : [{ name, because }]))];
}

const INITIATED_IT = 'It is your own action, or asked for on your behalf, or for an address that may have been yours.';
const OWNS_IT = 'You own the agent, or did when it asked.';
const REGISTERED_IT = 'You registered the agent.';

const WHO_DECIDES = [
  'At level 0 the owner of the agent, or of the task, and its team decide, and admins.',
  'At level 1 the leads of the agent\'s team decide, and admins.',
  'At level 2 admins and owners of the organization decide.',
] as const satisfies Record<EscalationLevel, string>;

function separationBar(decider: Person, request: RequestTies, agent: AgentTies, organization: OrganizationTies): MayNot | undefined {
  const separation = stricterOf(request.separationOfDuties, organization.separationOfDuties);
  const selves = separation === 'strict' ? organization.selves : new Map<string, readonly string[]>();
  const barring = barredFrom(request, agent, separation).find(({ name }) => isSelf(decider, name, selves, request.createdAt));
  if (barring) {
    const counted = separation === 'strict' ? ' Whoever vouched for an account counts as one person with it.' : '';
    return mayNot('SELF_APPROVAL', `${barring.because} Somebody else has to approve.${counted}`);
  }
  if (separation === 'standard') return undefined;
  // Members who may approve here are all in the team: the agent's owner is barred under `strict`.
  const membership = decider.role === 'member' ? decider.membership : undefined;
  const younger = rightsBehind(decider, membership, request.level).find(([, since]) => since.getTime() >= request.createdAt.getTime());
  if (younger) return mayNot('NOT_ELIGIBLE', `Your ${younger[0]} is not older than the request.`);
  if (membership && request.agent.teamId !== agent.teamId) {
    return mayNot('NOT_ELIGIBLE', 'The agent came to your team after it had asked.');
  }
  return undefined;
}

/** Whether the name is the decider's own id or address; under `strict` also that of an account that counts as the same person. */
function isSelf(decider: Person, name: string, selves: OrganizationTies['selves'], askedAt: Date): boolean {
  const folded = foldPerson(name);
  if (folded === foldPerson(decider.userId)) return true;
  if (decider.email !== undefined && folded === foldPerson(decider.email)) return true;
  // An address was claimed at the time of the request: a decider whose own was changed since may have had it.
  if (isAddress(folded) && decider.addressSince.getTime() >= askedAt.getTime()) return true;
  const mine = selves.get(foldPerson(decider.userId)) ?? [];
  return (selves.get(folded) ?? []).some((id) => mine.includes(id));
}

/** The rights that this decision rests on, and since when the decider has them. */
function rightsBehind({ accountSince, roleSince, keySince }: Person, membership: Membership | undefined, level: EscalationLevel) {
  const rights: [string, Date][] = [['account', accountSince], ['role', roleSince]];
  if (keySince) rights.push(['personal key', keySince]);
  if (membership) rights.push(['membership of the team', membership.since]);
  if (membership && level === 1) rights.push(['lead of the team', membership.roleSince]);
  return rights;
}

function mayNot(code: MayNot['code'], detail: string): MayNot {
  return { kind: 'may_not', code, detail };
}
