import { Inject, Injectable } from '@nestjs/common';
import { ROLES, type Role } from '../../../domain/access/access.js';
import { type Channel, type NotificationEvent, QUESTIONS, type Recipient } from '../../../domain/notifications/events.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Tx } from '../../../platform/database/transaction/tx.js';
import { queueMembers } from '../../hitl/queue/queue-members.js';
import { type OrganizationChannels } from '../channels/channels.js';
import type { OrganizationPeople } from './organization-people.js';
import { PeopleQuery } from './people.query.js';
import type { RecordedEvent } from './recorded-event.js';
import { type Subject, SubjectsQuery } from './subjects.query.js';

/** Whom one event goes to, by a channel that reaches people one by one. */
export type RecipientsOf = (event: RecordedEvent, channel: Extract<Channel, 'email' | 'in_app'>) => readonly string[];

type ChannelsOf = ReadonlyMap<string, OrganizationChannels>;

/**
 * Who is notified of what. Questions: those in whose queue the request stands. Ends: those who were asked, and the agent's owner.
 * What is only reported: the channel's recipients, else the owner and the leads of the team, else administrators. What an administrator
 * has to look into: administrators. A channel's recipients are notified besides, and nobody of what they did themselves.
 */
@Injectable()
export class RecipientsService {
  constructor(
    private readonly subjects: SubjectsQuery,
    private readonly people: PeopleQuery,
    @Inject(CONFIG) private readonly config: Pick<CompleteConfig, 'oidcIssuer'>,
  ) {}

  async read(tx: Tx, events: readonly RecordedEvent[], channels: ChannelsOf): Promise<RecipientsOf> {
    const subjects = await this.subjects.read(tx, events);
    const questions = events.filter(({ event, hitlRequestId }) => isQuestion(event) && subjects.get(hitlRequestId!)?.queue);
    const queues = questions.map(({ hitlRequestId }) => subjects.get(hitlRequestId!)!.queue!);
    const members = await queueMembers(tx.run, queues, this.config.oidcIssuer ?? null);
    const queued = new Map(questions.map(({ id }, i) => [id, members[i]!]));
    // Who is asked in this very set is in no inbox yet.
    const askedNow = (id: string | undefined) => questions.flatMap((one) => (one.hitlRequestId === id ? queued.get(one.id)! : []));
    const settings = [...channels.values()].flatMap(({ external, inbox }) => [...external, inbox]);
    const configured = settings.flatMap(({ recipients }) => recipients);
    const peopleOf = await this.people.read(tx, {
      organizationIds: [...new Set(events.map(({ organizationId }) => organizationId))],
      ...namedBy(configured, [...subjects.values()]),
    });
    return (event, channel) => {
      const people = peopleOf(event.organizationId);
      if (event.channel !== undefined) return people.administrators();
      const subject = subjects.get(event.hitlRequestId ?? event.executionId!);
      if (subject === undefined) return [];
      const recipients = recipientsOf(channels.get(event.organizationId), channel);
      const concerned = queued.get(event.id) ?? [...concernedBy(event, subject, people, recipients), ...askedNow(event.hitlRequestId)];
      const all = new Set([...concerned, ...people.named(recipients), ...(event.isBreakGlass ? people.administrators() : [])]);
      if (event.by !== undefined) all.delete(event.by);
      return [...all];
    };
  }
}

function concernedBy({ event }: RecordedEvent, subject: Subject, people: OrganizationPeople, recipients: readonly Recipient[]): string[] {
  const owner = subject.ownerId !== null && people.isHere(subject.ownerId) ? [subject.ownerId] : [];
  switch (event) {
    case 'execution.indeterminate':
      return people.administrators();
    case 'execution.notified': {
      if (recipients.length > 0) return [];
      const near = [...owner, ...(subject.teamId === null ? [] : people.ofTeam(subject.teamId, true))];
      return near.length > 0 ? near : people.administrators();
    }
    default:
      return [...(subject.asked ?? []), ...owner];
  }
}

function isQuestion(event: RecordedEvent['event']): boolean {
  return QUESTIONS.has(event as NotificationEvent);
}

function recipientsOf(channels: OrganizationChannels | undefined, channel: Channel): readonly Recipient[] {
  if (channel === 'in_app') return channels?.inbox.recipients ?? [];
  return channels?.external.find((one) => one.channel === channel)?.recipients ?? [];
}

function namedBy(recipients: readonly Recipient[], subjects: readonly Subject[]) {
  const roles = recipients.flatMap((one): Role[] => ('role' in one ? [one.role] : []));
  const lowest = Math.min(ROLES.indexOf('admin'), ...roles.map((role) => ROLES.indexOf(role)));
  return {
    userIds: [...recipients.flatMap((one) => ('userId' in one ? [one.userId] : [])),
      ...subjects.flatMap(({ ownerId }) => (ownerId === null ? [] : [ownerId]))],
    teamIds: [...recipients.flatMap((one) => ('teamId' in one ? [one.teamId] : [])),
      ...subjects.flatMap(({ teamId }) => (teamId === null ? [] : [teamId]))],
    lowestRole: ROLES[lowest]!,
  };
}
