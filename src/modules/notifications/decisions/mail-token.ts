import { createHash, randomBytes } from 'node:crypto';

/** 32 random bytes, base64url. */
export const MAIL_TOKEN = /^[A-Za-z0-9_-]{43}$/;

export const makeMailToken = (): string => randomBytes(32).toString('base64url');

export const hashMailToken = (token: string): string => createHash('sha256').update(token).digest('hex');

/** What says of a request `q` of the organization `o` whether a mail may decide it, by the names of `MailDecisionFacts`. */
export const MAIL_DECISION_FACTS = `o.decide_by_mail as "decideByMail", q.separation_of_duties as "separationThen",
  o.separation_of_duties as "separationNow", q.escalation_level as level, q.hitl_mode as "hitlMode", q.quorum is not null as "hasQuorum",
  q.capability`;
