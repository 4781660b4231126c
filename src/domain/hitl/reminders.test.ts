import { describe, expect, it } from '@jest/globals';
import { dueReminder, nextReminderAt, type Reminder, type ReminderClock } from './reminders.js';

const END = new Date('2026-05-01T12:30:00.000Z');
/** So many seconds before the window's end. */
const before = (seconds: number) => new Date(END.getTime() - seconds * 1000);
const notice = (secondsBefore: number): Reminder => ({ secondsBefore });
const rise = (secondsBefore: number): Reminder => ({ secondsBefore, escalate: true });
const clock = (reminders: readonly Reminder[], remindedSeconds: number | null = null): ReminderClock => ({ reminders, remindedSeconds,
  expiresAt: END });

describe('the next reminder of a window', () => {
  it.each<[string, ReminderClock, Date | null]>([
    ['there are none', clock([]), null],
    ['the only one', clock([notice(60)]), before(60)],
    ['the earliest comes first, however they are written', clock([notice(60), notice(600), rise(300)]), before(600)],
    ['after one was given, the one behind it', clock([notice(60), notice(600), rise(300)], 600), before(300)],
    ['one that was skipped does not come back', clock([notice(60), notice(600), rise(300)], 300), before(60)],
    ['all were given', clock([notice(60), notice(600)], 60), null],
    ['two of one moment are given together', clock([notice(60), rise(60)], 60), null],
  ])('%s', (_name, of, at) => expect(nextReminderAt(of)).toEqual(at));
});

describe('the reminder that is due', () => {
  it.each<[string, ReminderClock, number, Date, Reminder | undefined]>([
    ['a millisecond early', clock([notice(60)]), 0, new Date(before(60).getTime() - 1), undefined],
    ['on time', clock([notice(60)]), 0, before(60), notice(60)],
    ['it was given', clock([notice(60)], 60), 0, before(30), undefined],
    ['the first of two', clock([notice(60), notice(600)]), 0, before(500), notice(600)],
    ['of several that nobody gave, the last', clock([notice(60), notice(600), notice(300)]), 0, before(200), notice(300)],
    ['one that escalates', clock([rise(60)]), 0, before(60), rise(60)],
    ['one that escalates, from level 1', clock([rise(60)]), 1, before(60), rise(60)],
    ['at the highest level it only reminds', clock([rise(60)]), 2, before(60), notice(60)],
    ['a missed one escalates nevertheless, once', clock([rise(600), notice(60)]), 0, before(30), rise(60)],
    ['one that escalated before does not again', clock([rise(600), notice(60)], 600), 0, before(30), notice(60)],
    ['one that escalates later does not yet', clock([notice(600), rise(60)]), 0, before(500), notice(600)],
    ['two of one moment', clock([notice(60), rise(60)]), 0, before(60), rise(60)],
    ['after the end it is still due: whoever asks knows whether the request is open', clock([notice(60)]), 0, before(-1), notice(60)],
  ])('%s', (_name, of, level, now, reminder) => expect(dueReminder(of, level, now)).toEqual(reminder));

  it('each is given once at most, in order, whenever somebody looks', () => {
    const reminders = [notice(60), rise(300), notice(600)];
    for (let looks = 0; looks < 2 ** 8; looks++) {
      let remindedSeconds: number | null = null;
      const given: number[] = [];
      for (let bit = 0; bit < 8; bit++) {
        if ((looks & (1 << bit)) === 0) continue;
        const due = dueReminder(clock(reminders, remindedSeconds), 0, before(700 - bit * 100));
        if (due === undefined) continue;
        given.push(due.secondsBefore);
        remindedSeconds = due.secondsBefore;
      }
      expect(given).toEqual([...new Set(given)].sort((a, b) => b - a));
      const next = nextReminderAt(clock(reminders, remindedSeconds));
      expect(next === null || next > before(remindedSeconds ?? 100_000)).toBe(true);
    }
  });
});
