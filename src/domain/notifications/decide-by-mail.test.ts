import { expect, test } from '@jest/globals';
import { mayDecideByMail, type MailDecisionFacts } from './decide-by-mail.js';

const plain: MailDecisionFacts = {
  decideByMail: true, separationThen: 'standard', separationNow: 'standard', level: 0, hitlMode: 'propose', hasQuorum: false,
  capability: 'email.send',
};

test.each<[string, Partial<MailDecisionFacts>, boolean]>([
  ['a plain request', {}, true],
  ['one of level 1', { level: 1 }, true],
  ['one of level 2', { level: 2 }, false],
  ['one that asks for an administrator', { hitlMode: 'escalate' }, false],
  ['one that several people decide', { hasQuorum: true }, false],
  ['a hardcoded capability', { capability: 'finance.payment' }, false],
  ['where the organization does not want it', { decideByMail: false }, false],
  ['under strict separation of duties', { separationNow: 'strict' }, false],
  ['under separation of duties that was strict when it was asked', { separationThen: 'strict' }, false],
])('%s', (_what, change, wanted) => {
  expect(mayDecideByMail({ ...plain, ...change })).toBe(wanted);
});
