import { expect, test } from '@jest/globals';
import { checkCondition, conditionTime } from './conditions.js';

test.each([
  ['input.amount > 10', 'not'],
  ['input.now == 1', 'not'],
  ['now.getHours() < 8 || now.getDayOfWeek("Europe/Berlin") == 0', 'in steps'],
  ['now.getMinutes() % 2 == 0', 'in steps'],
  ['now > timestamp("2026-12-24T00:00:00Z") && input.amount > 10', 'in steps'],
  ['now - timestamp(input.begun) > duration("1h")', 'in steps'],
  ['timestamp(input.begun) + duration("1h") < now', 'in steps'],
  ['now.getSeconds() % 2 == 0', 'finely'],
  ['now.getMilliseconds() == 7', 'finely'],
  ['now.getHours() == now.getSeconds()', 'finely'],
  ['(now + duration("30s")).getMinutes() == 0', 'finely'],
  ['string(now).endsWith("1Z")', 'finely'],
  ['int(now) % 2 == 0', 'finely'],
  ['now == timestamp("2026-12-24T00:00:00Z")', 'finely'],
  ['[now].exists(t, t.getSeconds() == 1)', 'finely'],
  ['{"at": now}.at.getSeconds() == 1', 'finely'],
  ['input.list.exists(x, x > now.getSeconds())', 'finely'],
  ['now.getHours(string(now)) == 1', 'finely'],
  ['now < timestamp("2026-12-24T00:00:00Z") + duration(string(now.getHours()) + "h")', 'finely'],
  ['input.list.exists(x, timestamp(x) < now)', 'finely'],
  ['now < timestamp(agent.id)', 'finely'],
  ['input.list.exists(x, x == now.getHours())', 'in steps'],
])('%s: %s', (source, wanted) => {
  expect(checkCondition(source)).toEqual({ ok: true });
  expect(conditionTime(source)).toBe(wanted);
});

test('what is no condition hangs on no time', () => {
  expect(conditionTime('now.')).toBe('not');
});
