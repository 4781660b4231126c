import { Injectable } from '@nestjs/common';
import type { Request, Response } from 'express';
import { recordsNothing } from '../../../platform/auth/access/call-context.js';
import type { Caller } from '../../../platform/auth/access/principal.js';
import { Identification } from '../../../platform/auth/credentials/identification.js';
import { Problem } from '../../../platform/http/reply/problem.js';
import type { Reply } from '../../../platform/http/reply/replies.js';
import { formFields } from '../../../platform/http/request/form-fields.js';
import type { Note } from '../../sign-in/pages/form-parts.js';
import { pageReply, seeOther } from '../../sign-in/pages/page-reply.js';
import { SignInForm } from '../../sign-in/ports/sign-in-form.js';
import { personOf } from '../../sign-in/sessions/own-sessions.service.js';
import { WhoAmIService } from '../../sign-in/sessions/who-am-i.service.js';
import { ChatAccountsService } from './chat-accounts.service.js';
import { chatLinkedPage, chatLinkPage } from './chat-link-page.js';
import { type ChatLink, ChatLinks } from './chat-links.js';

const TITLE = 'Link a chat account';

/** Where somebody says, signed in, that a chat account is theirs. */
@Injectable()
export class ChatLinkPages {
  constructor(
    private readonly identification: Identification,
    private readonly form: SignInForm,
    private readonly who: WhoAmIService,
    private readonly links: ChatLinks,
    private readonly accounts: ChatAccountsService,
  ) {}

  async show(request: Request, response: Response): Promise<Reply<string | undefined>> {
    const caller = await this.identification.sessionOf(request);
    if (caller === undefined) return seeOther(`/sign-in?returnTo=${encodeURIComponent(request.originalUrl)}`);
    return this.page(request, response, caller, this.linkFor(request.query['link'], caller));
  }

  async link(request: Request, response: Response, caller: Caller): Promise<Reply<string>> {
    const fields = formFields(request);
    // A browser sends its cookie along with anybody's form; whoever shows a key in a header has meant to.
    if (caller.principal.kind === 'user' && caller.principal.credential.kind === 'session') this.form.assertOurs(request, fields);
    const link = this.linkFor(fields['link'], caller);
    try {
      await this.accounts.link(link, caller);
    } catch (error) {
      if (!(error instanceof Problem) || error.code !== 'CONFLICT') throw error;
      recordsNothing();
      return this.page(request, response, caller, link, 409, { tone: 'bad', text: error.message });
    }
    return pageReply(200, { title: TITLE, main: chatLinkedPage() });
  }

  /** @throws Problem VALIDATION_FAILED for what is no link, or is past its time, or was made for another organization */
  private linkFor(text: unknown, { principal }: Caller): ChatLink {
    const link = this.links.read(text);
    const isTheirs = principal.kind === 'user' && principal.organizationId === link?.organizationId;
    if (link !== undefined && isTheirs) return link;
    throw new Problem('VALIDATION_FAILED', 'The link does not hold: it is good for ten minutes, in the organization that the chat belongs '
      + 'to. Press the button in the chat again for another one.');
  }

  private async page(
    request: Request, response: Response, caller: Caller, link: ChatLink, status = 200, note?: Note,
  ): Promise<Reply<string>> {
    const { user: { name, email, id }, organization } = await this.who.person(personOf(caller.principal), caller.scope);
    const main = chatLinkPage({
      formToken: this.form.open(request, response), link, name: name ?? email ?? id, organization: organization.name, note,
    });
    return pageReply(status, { title: TITLE, main });
  }
}
