import { describe, expect, it } from '@jest/globals';
import { RecordedLog } from '../../../../test/support/memory/recorded-log.js';
import type { AuditEvent } from '../catalogue/audit-events.js';

// Requests are asked and decided in org_a; org_b is of the same tenant, and org_c of another.
const [HERE, BESIDE, ABROAD] = ['org_a', 'org_b', 'org_c'];
const [OURS, THEIRS] = ['ten_ours', 'ten_theirs'];
const [OWNER, LOCAL] = ['usr_owner', 'usr_local'];

const user = (userId: string, role: string): AuditEvent => ({ type: 'admin.user_created', metadata: { userId, role } });
const changed = (userId: string, to: object): AuditEvent => ({ type: 'admin.user_updated', metadata: { userId, ...to } });
const closed = (userId: string): AuditEvent => ({ type: 'admin.user_deleted', metadata: { userId } });

const tenants = () => new RecordedLog(OURS).made(BESIDE, OURS).made(ABROAD, THEIRS);
const owned = () => tenants().organization(1, user(OWNER, 'owner'), BESIDE);

/** What is said of how a request was decided, which is right in any case itself. */
async function decided(log: RecordedLog, by: readonly string[], { terms = {}, asked = {}, said = {} } = {}) {
  const recorded = log.grant(100, { hitlMode: 'propose', ...terms }).approved(101, by, asked, 102, said);
  const { right, ...rest } = await recorded.replayed();
  return { right: right - 1, ...rest };
}

const YES = { right: 1, notReplayable: {}, wrong: [] };
const SWEPT = { right: 0, notReplayable: { swept: 1 }, wrong: [] };
const no = (...wrongs: string[]) => ({ right: 0, notReplayable: {}, wrong: wrongs });
const NOBODY = no(`nobody called ${OWNER} is there`);

describe('an owner of another organization', () => {
  it('approves in each organization of their tenant', async () => {
    expect(await decided(owned(), [OWNER])).toEqual(YES);
    expect(await decided(owned(), [OWNER], { asked: { level: 2 } })).toEqual(YES);
  });

  it.each(['admin', 'member', 'viewer'])('is one, and not somebody who is %s there', async (role) => {
    expect(await decided(tenants().organization(1, user(OWNER, role), BESIDE), [OWNER])).toEqual(NOBODY);
  });

  it('is nobody in an organization of another tenant, or of none', async () => {
    expect(await decided(tenants().organization(1, user(OWNER, 'owner'), ABROAD), [OWNER])).toEqual(NOBODY);
    const alone = new RecordedLog().made(BESIDE).made(ABROAD, THEIRS);
    expect(await decided(alone.organization(1, user(OWNER, 'owner'), BESIDE), [OWNER])).toEqual(NOBODY);
  });

  it('is nobody, whatever is appended about its tenant, or stands in its row', async () => {
    const appended: AuditEvent = { type: 'admin.organization_created', metadata: { organizationId: HERE, name: 'A', tenantId: THEIRS } };
    expect(await decided(tenants().organization(2, user(OWNER, 'owner'), ABROAD).organization(3, appended), [OWNER])).toEqual(NOBODY);
    const moved = new RecordedLog(OURS).made(ABROAD, THEIRS, OURS).organization(1, user(OWNER, 'owner'), ABROAD);
    expect(await decided(moved, [OWNER])).toEqual(NOBODY);
  });

  it('counts for a quorum and for the role that it asks for', async () => {
    const terms = { quorum: { approvals: 2, groups: [{ role: 'owner' }] } };
    const both = owned().organization(2, user(LOCAL, 'admin'));
    expect(await decided(both, [OWNER, LOCAL], { terms })).toEqual({ ...YES, right: 2 });
    const admins = tenants().organization(1, user(OWNER, 'admin'), BESIDE).organization(2, user(LOCAL, 'admin'));
    expect((await decided(admins, [OWNER, LOCAL], { terms })).wrong).toEqual([...NOBODY.wrong, ...NOBODY.wrong]);
  });

  it('breaks the glass', async () => {
    const said = { breakGlass: true, comment: 'the house is on fire' };
    const asked = { context: { on_behalf_of: OWNER } };
    expect(await decided(owned().organization(2, user(LOCAL, 'admin')), [OWNER], { asked, said })).toEqual(YES);
    expect(await decided(owned().organization(2, user(LOCAL, 'admin')), [LOCAL], { asked, said }))
      .toEqual(no(`${LOCAL} is no owner with a reason, who alone may break the glass`));
  });

  it('decides in company, and so needs nobody else', async () => {
    const [asked, behind] = [{ context: { on_behalf_of: OWNER } }, no(`${OWNER} is behind the action`)];
    expect(await decided(owned().organization(2, user(LOCAL, 'admin')), [OWNER], { asked })).toEqual(behind);
    expect(await decided(owned(), [OWNER], { asked })).toEqual(YES);
  });
});

describe('whoever is behind the action', () => {
  const asked = { context: { on_behalf_of: LOCAL } };

  it('decides where nobody else of the organization could', async () => {
    const alone = tenants().organization(1, user(LOCAL, 'owner'));
    expect(await decided(alone, [LOCAL], { asked })).toEqual(YES);
    const two = () => tenants().organization(1, user(LOCAL, 'owner')).organization(2, user('usr_other', 'admin'));
    expect(await decided(two(), [LOCAL], { asked })).toEqual(no(`${LOCAL} is behind the action`));
    expect(await decided(two().organization(50, closed('usr_other')), [LOCAL], { asked })).toEqual(YES);
  });
});

describe('what changes of an owner counts by what was read of their home', () => {
  it.each<[string, AuditEvent]>([
    ['made an admin', changed(OWNER, { role: 'admin' })], ['suspended', changed(OWNER, { status: 'suspended' })],
    ['whose account was closed', closed(OWNER)],
  ])('one %s', async (_, event) => {
    const [before, after] = [owned(), owned().organization(98, event, BESIDE)];
    const decider = before.decider(OWNER);
    const readAfter = { ...decider, home: { organization: BESIDE, position: 3 } };
    expect(await decided(after, [OWNER], { said: { decider: readAfter } })).toEqual(NOBODY);
    expect(await decided(before, [OWNER], { said: { decider } })).toEqual(YES);
  });

  it('one made an owner, however many entries their organization has before', async () => {
    const log = tenants();
    for (let i = 1; i < 9; i++) log.organization(i, user(`usr_${i}`, 'member'), BESIDE);
    log.organization(9, user(OWNER, 'owner'), BESIDE);
    const decider = log.decider(OWNER);
    expect(await decided(log, [OWNER], { said: { decider } })).toEqual(YES);
    expect(await decided(log, [OWNER], { said: { decider: { ...decider, home: { organization: BESIDE, position: 9 } } } }))
      .toMatchObject({ wrong: [`nobody called ${OWNER} is there`, `nobody called ${OWNER} is there`].slice(1) });
  });
});

describe('what a sweep took of the tenant is unknown', () => {
  it('of the home of the owner', async () => {
    expect(await decided(owned().sweep(50, BESIDE), [OWNER])).toEqual(SWEPT);
    const renamed = owned().sweep(50, BESIDE).organization(60, changed(OWNER, { name: 'Married' }), BESIDE);
    expect(await decided(renamed, [OWNER])).toEqual(SWEPT);
  });

  it('but for what is recorded since', async () => {
    const since = (event: AuditEvent) => decided(owned().sweep(50, BESIDE).organization(60, event, BESIDE), [OWNER]);
    expect(await since(user(OWNER, 'admin'))).toEqual(NOBODY);
    expect(await since(changed(OWNER, { role: 'admin' }))).toEqual(NOBODY);
    expect(await since(changed(OWNER, { role: 'owner' }))).toEqual(SWEPT);
  });

  it('of the organization itself', async () => {
    expect(await decided(owned().sweep(50), [OWNER])).toEqual(SWEPT);
  });

  it('of an organization of another tenant it excuses nobody', async () => {
    expect(await decided(tenants().organization(1, user(OWNER, 'owner'), ABROAD).sweep(50, ABROAD), [OWNER])).toEqual(NOBODY);
    const abroad = tenants().organization(1, user(OWNER, 'owner'), ABROAD).sweep(50, BESIDE);
    expect(await decided(abroad, [OWNER])).toEqual(NOBODY);
  });
});
