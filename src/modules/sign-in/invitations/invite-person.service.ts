import { Inject, Injectable } from '@nestjs/common';
import { INVITATION_MS } from '../../../domain/access/invitation.js';
import { refusalToMake } from '../../../domain/access/rank.js';
import { organizationChain } from '../../../domain/audit/entry/chain.js';
import { newId } from '../../../domain/ids.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { CONFIG, type CompleteConfig } from '../../../platform/config/config.js';
import type { Plan } from '../../../platform/database/transaction/plan.js';
import { UnitOfWork } from '../../../platform/database/transaction/unit-of-work.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { type Mail, Mailer } from '../../../platform/mail/mailer.js';
import { foldedEmail } from '../../organizations/users/make-account.js';
import { OrganizationsQuery } from '../../organizations/organizations.query.js';
import { actorOf, assertRank } from '../../organizations/users/rank-check.js';
import { type Invitation, invitationTokenHash, newInvitationToken } from './invitation.js';
import { InvitationTerms } from './invitation-terms.js';
import { InvitationStore } from './invitation.store.js';
import type { InviteDto } from './invitations.dto.js';
import { type NewInvitationReply, presentInvitation } from './invitations.presenter.js';
import { voidInvitations } from './void-invitations.store.js';

/** Nothing that a decision rests on changes until somebody accepts. */
const planFor = (organizationId: string): Plan => ({ chains: [organizationChain(organizationId)], leavesFacts: true });

/** Inviting people, and taking it back. */
@Injectable()
export class InvitePersonService {
  private readonly appUrl: string;

  constructor(
    private readonly work: UnitOfWork,
    private readonly organizations: OrganizationsQuery,
    private readonly terms: InvitationTerms,
    private readonly invitations: InvitationStore,
    private readonly mailer: Mailer,
    @Inject(CONFIG) config: Pick<CompleteConfig, 'appUrl'>,
  ) {
    this.appUrl = config.appUrl;
  }

  async invite(wanted: InviteDto, caller: Caller): Promise<Reply<NewInvitationReply>> {
    const { email, role, name = null } = wanted;
    assertRank(refusalToMake(actorOf(caller), role));
    const organizationId = await this.organizations.choose(caller.scope, wanted.organizationId);
    const organization = await this.organizations.find(caller.scope, organizationId);
    const emailFolded = foldedEmail(email);
    const delivery = this.mailer.isAvailable ? 'mail' : 'hand';
    return this.work.run(planFor(organizationId), async (tx) => {
      const userId = await this.terms.assert(tx, { organizationId, emailFolded, role, delivery }, caller);
      const token = newInvitationToken();
      const createdAt = await tx.now();
      const invitation: Invitation = {
        organizationId, id: newId('inv'), email, emailFolded, name, role, userId: userId ?? null, delivery, invitedBy: caller.actorId,
        createdAt, expiresAt: new Date(createdAt.getTime() + INVITATION_MS), status: 'open',
      };
      await this.invitations.insert(tx, invitation, invitationTokenHash(token)!);
      const shown = presentInvitation(invitation);
      const { id: invitationId, expiresAt } = shown;
      tx.record(organizationChain(organizationId), {
        type: 'admin.user_invited',
        metadata: { invitationId, ...(userId === undefined ? {} : { userId }), email, role, expiresAt, delivery },
      });
      const link = new URL(`/invitations/${token}`, this.appUrl).href;
      if (delivery === 'hand') return tx.reply(201, { invitation: shown, link }, { invitation: shown, link: null });
      this.mailer.send(tx, mailOf(invitation, organization?.name ?? '', link), organizationId);
      return tx.reply(201, { invitation: shown });
    });
  }

  /** @throws Problem FORBIDDEN for one to a role above the caller's own; NOT_FOUND where it has ended already */
  async void(id: string, caller: Caller): Promise<Reply<undefined>> {
    const ref = await this.invitations.findRef(caller.scope, id);
    return this.work.run(planFor(ref.organizationId), async (tx) => {
      const invitation = await this.invitations.read(tx, ref);
      if (invitation) assertRank(refusalToMake(actorOf(caller), invitation.role));
      const ended = await voidInvitations(tx, [ref], caller.actorId);
      if (ended === 0) throw new Problem('NOT_FOUND', 'The invitation has ended already.');
      return tx.reply(204, undefined);
    });
  }
}

function mailOf({ email, role, expiresAt }: Invitation, organization: string, link: string): Mail {
  const until = expiresAt.toUTCString();
  return {
    to: email,
    subject: 'You are invited to Countersign',
    text: `You are invited to the organization "${organization}" on Countersign, with the role ${role}.\n\n`
      + `This address lets you in. It is good once, until ${until}, and for you alone:\n\n${link}\n\n`
      + 'If you did not expect this mail, leave it: nothing happens without you.\n',
  };
}
