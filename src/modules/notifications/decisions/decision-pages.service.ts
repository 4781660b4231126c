import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { ACCESS } from '../../../domain/access/access.js';
import { actAs, recordsNothing } from '../../../platform/auth/access/call-context.js';
import { assertAllowed } from '../../../platform/auth/access/assert-allowed.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Identification } from '../../../platform/auth/credentials/identification.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { formFields } from '../../../platform/http/request/form-fields.js';
import { HitlService } from '../../hitl/hitl.service.js';
import { HitlRequestsQuery } from '../../hitl/requests/hitl-requests.query.js';
import type { Note } from '../../sign-in/pages/form-parts.js';
import { pageReply, seeOther } from '../../sign-in/pages/page-reply.js';
import { SignInForm } from '../../sign-in/ports/sign-in-form.js';
import { DecisionFactsQuery } from './decision-facts.query.js';
import type { DecisionWord } from './decision-form.js';
import { decisionPage, decisionTitle } from './decision-page.js';
import { readDecision, REFUSED_IN_WORDS, type WantedDecision } from './form-decision.js';
import { MailTokenSource } from './mail-token.source.js';

/** Who is on the page, and the mail's token where it is that which let them in. */
interface Visitor {
  readonly caller: Caller;
  readonly mailToken?: string;
}

/** The page that is shown behind a decision, or a try at one. */
interface Shown {
  readonly status: number;
  readonly note?: Note;
  readonly typed?: string | undefined;
  /** The person was barred by separation of duties. */
  readonly isBarred?: boolean;
}

/** How long the page waits for what comes of an approval, in seconds. */
const WAIT_SECONDS = 2;

/**
 * The pages on which people decide. To open one decides nothing and uses nothing up. Who decides is who is signed in, or, where the
 * organization lets mails decide, who has the link of a mail.
 */
@Injectable()
export class DecisionPages {
  constructor(
    private readonly identification: Identification,
    private readonly mails: MailTokenSource,
    private readonly hitl: HitlService,
    private readonly requests: HitlRequestsQuery,
    private readonly facts: DecisionFactsQuery,
    private readonly form: SignInForm,
  ) {}

  /** @throws Problem NOT_FOUND for whoever may not read it, FORBIDDEN */
  async show(id: string, side: DecisionWord, request: Request, response: Response): Promise<Reply<string | undefined>> {
    const visitor = await this.visitorOf(request, id, request.query['token']);
    return visitor === undefined ? toSignIn(id, side) : this.page(visitor, id, side, request, response, { status: 200 });
  }

  /** @throws Problem FORBIDDEN for a form that this browser was not shown; NOT_FOUND */
  async decide(id: string, side: DecisionWord, request: Request, response: Response): Promise<Reply<string | undefined>> {
    const fields = formFields(request);
    this.form.assertOurs(request, fields);
    const visitor = await this.visitorOf(request, id, fields['token']);
    const wanted = readDecision(fields);
    if (visitor === undefined || 'problem' in wanted) recordsNothing();
    if (visitor === undefined) return toSignIn(id, side);
    if ('problem' in wanted) {
      return this.page(visitor, id, side, request, response, { status: 400, note: bad(wanted.problem), typed: fields['note'] });
    }
    try {
      await this.act(id, wanted, visitor);
    } catch (error) {
      return this.refused(error, visitor, id, wanted, { side, request, response });
    }
    return this.page(visitor, id, side, request, response, { status: 200, note: { tone: 'good', text: DONE[wanted.word] } });
  }

  private async act(id: string, { word, ...decision }: WantedDecision, { caller, mailToken }: Visitor): Promise<void> {
    actAs(caller, mailToken === undefined ? undefined : 'mail');
    assertAllowed('hitl.decide', caller);
    if (word === 'reject') return void (await this.hitl.reject(id, decision, {}, caller));
    // By a link that is used up nobody can wait: the service does, for whoever used it.
    await this.hitl.approve(id, decision, mailToken === undefined ? {} : { wait: 0 }, caller);
    if (mailToken !== undefined) await this.hitl.show(id, { wait: WAIT_SECONDS }, { ...caller, principal: { kind: 'system' } });
  }

  /** Says why, with what stands now. What a link rests on may have ended meanwhile: then it is no link any more. */
  private async refused(
    error: unknown, visitor: Visitor, id: string, { note }: WantedDecision,
    { side, request, response }: { side: DecisionWord; request: Request; response: Response },
  ): Promise<Reply<string | undefined>> {
    if (!(error instanceof Problem)) throw error;
    recordsNothing();
    if (error.code === 'UNAUTHENTICATED') return toSignIn(id, side);
    if (!REFUSED_IN_WORDS.has(error.code)) throw error;
    const isBarred = error.code === 'SELF_APPROVAL' || error.code === 'NOT_ELIGIBLE' || error.code === 'REASON_REQUIRED';
    return this.page(visitor, id, side, request, response, { status: error.status, note: bad(error.message), typed: note, isBarred });
  }

  /** A session counts before a link: it says who is there, and lasts. */
  private async visitorOf(request: Request, id: string, token: unknown): Promise<Visitor | undefined> {
    const signedIn = await this.identification.sessionOf(request);
    if (signedIn !== undefined) return { caller: signedIn };
    const byMail = await this.mails.find(token, id);
    return byMail && { caller: byMail, mailToken: String(token) };
  }

  private async page(
    { caller, mailToken }: Visitor, id: string, side: DecisionWord, request: Request, response: Response, shown: Shown,
  ): Promise<Reply<string>> {
    assertAllowed('hitl.read', caller);
    const found = await this.requests.find(caller.scope, id);
    if (found === undefined) throw new Problem('NOT_FOUND', 'There is no such request.');
    const { principal } = caller;
    const role = principal.kind === 'user' ? principal.role : 'viewer';
    const isOwner = role === 'owner' && (found.quorum !== null || shown.isBarred === true);
    const mayDecide = ACCESS['hitl.decide'].who[role as 'owner'] !== undefined;
    const view = {
      request: found, facts: await this.facts.read(found, caller.actorId), reader: caller.actorId, now: Date.now(),
      note: shown.note ?? (mayDecide ? undefined : { tone: 'bad' as const, text: `The role ${role} decides nothing here.` }),
      ...(mayDecide ? {
        form: { formToken: this.form.open(request, response), side, mailToken, mayBreakGlass: isOwner, note: shown.typed },
      } : {}),
    };
    return pageReply(shown.status, { title: decisionTitle(view), main: decisionPage(view), isWide: true });
  }
}

const DONE: Readonly<Record<DecisionWord, string>> = { approve: 'Your approval counts.', reject: 'It is rejected.' };

const bad = (text: string): Note => ({ tone: 'bad', text });

/** Nothing is said of the request, not even whether there is one. */
const toSignIn = (id: string, side: DecisionWord): Reply<undefined> =>
  seeOther(`/sign-in?returnTo=${encodeURIComponent(`/hitl/${id}/${side}`)}`);
