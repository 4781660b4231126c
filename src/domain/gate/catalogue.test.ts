import { describe, expect, it } from '@jest/globals';
import { builtIn, CAPABILITY_NAME_MAX, CATALOGUE, HARDCODED, isCapabilityName, isHardcoded,
  resemblesHardcoded } from './catalogue.js';
import { HITL_MODES } from './vocabulary.js';

describe('the catalogue', () => {
  it('holds the 24 names of the interface, each once, with sound values', () => {
    expect(CATALOGUE).toHaveLength(24);
    expect(new Set(CATALOGUE.map(({ name }) => name)).size).toBe(24);
    for (const entry of CATALOGUE) {
      expect(isCapabilityName(entry.name)).toBe(true);
      expect(HITL_MODES).toContain(entry.defaultHitlMode);
      expect(entry.riskScore).toBeGreaterThanOrEqual(0);
      expect(entry.riskScore).toBeLessThanOrEqual(100);
      expect(entry.description.length).toBeGreaterThan(10);
      expect(builtIn(entry.name)).toBe(entry);
    }
  });

  it('marks exactly the five, and they escalate by default', () => {
    expect(CATALOGUE.filter(({ hardcoded }) => hardcoded).map(({ name }) => name).sort()).toEqual([...HARDCODED].sort());
    for (const name of HARDCODED) expect(builtIn(name)).toMatchObject({ hardcoded: true, defaultHitlMode: 'escalate' });
    expect(isHardcoded('email.send')).toBe(false);
    expect(isHardcoded('toString')).toBe(false);
  });

  it.each([
    ['web.search', 'web', 'auto', 10], ['email.send', 'communication', 'propose', 55], ['file.delete', 'file', 'propose', 65],
    ['calendar.write', 'calendar', 'notify', 30], ['code.execute', 'compute', 'propose', 75],
      ['agent.spawn', 'agent', 'escalate', 80],
    ['system.shutdown', 'system', 'escalate', 100], ['db:mutate', 'data', 'propose', 60], ['llm:invoke', 'llm', 'auto', 25],
  ] as const)('%s is %s, %s, %i', (name, category, defaultHitlMode, riskScore) =>
    expect(builtIn(name)).toMatchObject({ category, defaultHitlMode, riskScore }));
});

describe('names', () => {
  it.each(['file.write', 'file:write', 'crm.contact.create', 'a-b_c.d-e', 'x9.0', 'a:b.c'])('%s is one', (name) =>
    expect(isCapabilityName(name)).toBe(true));

  it.each(['', 'file', 'File.write', 'file.', '.write', 'file..write', '9file.x', 'file write.x', 'file.wríte', 'file.write\n',
    'a'.repeat(CAPABILITY_NAME_MAX) + '.b', 7, null])('%j is none', (name) => expect(isCapabilityName(name)).toBe(false));
});

describe('look-alikes of hardcoded names', () => {
  it.each([
    ['phone.call', 'phone.call'], ['Phone.Call', 'phone.call'], ['phone:call', 'phone.call'], ['phone_call', 'phone.call'],
    ['phonecall', 'phone.call'], ['phone..call', 'phone.call'], ['рhоnе.саll', 'phone.call'], ['phone.cа11', 'phone.call'],
    ['ph0ne.call', 'phone.call'], ['ｐｈｏｎｅ．ｃａｌｌ', 'phone.call'], ['𝗉𝗁𝗈𝗇𝖾.call', 'phone.call'], ['phone.ca\u200bll', 'phone.call'],
    ['phone․call', 'phone.call'], ['phοne.call', 'phone.call'], ['phone.cali', 'phone.call'], ['PHONE.CALL', 'phone.call'],
    ['finance:transfer', 'finance.transfer'], ['fínance.payment', 'finance.payment'], ['finance.payrnent', 'finance.payment'],
    ['finance-payment', 'finance.payment'], ['ﬁnance.payment', 'finance.payment'], ['finance.pаyment', 'finance.payment'],
    ['sys.tem.shutdown', 'system.shutdown'], ['system.shutdovvn', 'system.shutdown'], ['5ystem.shutdown', 'system.shutdown'],
    ['data:delete', 'data.delete'], ['dаta.delete', 'data.delete'], ['clata.delete', 'data.delete'],
      ['d4ta.de1ete', 'data.delete'],
  ])('%s reads like %s', (name, hardcoded) => expect(resemblesHardcoded(name)).toBe(hardcoded));

  it('leaves every other built-in name and ordinary ones alone', () => {
    for (const { name, hardcoded } of CATALOGUE) if (!hardcoded) expect(resemblesHardcoded(name)).toBeUndefined();
    for (const name of ['phone.call.log', 'finance.report', 'data.delete_draft', 'system.restart', 'call.phone',
      'payments.refund', '']) {
      expect(resemblesHardcoded(name)).toBeUndefined();
    }
  });
});
