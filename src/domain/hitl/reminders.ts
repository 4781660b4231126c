import { HIGHEST_LEVEL } from './transition.js';

/** Reminds people that a window is about to end; with `escalate` the request also goes up one level (interface, section 3). */
export interface Reminder {
  /** Seconds before the window's end. */
  readonly secondsBefore: number;
  readonly escalate?: true;
}

export const REMINDERS_MAX = 3;

/** What decides when reminders are due. `remindedSeconds`: the `secondsBefore` of the last one given in this window. */
export interface ReminderClock {
  readonly reminders: readonly Reminder[];
  readonly remindedSeconds: number | null;
  readonly expiresAt: Date;
}

/** When the next reminder of this window is due; null when none is left. */
export function nextReminderAt(clock: ReminderClock): Date | null {
  const left = remindersLeft(clock).map(({ secondsBefore }) => secondsBefore);
  return left.length === 0 ? null : new Date(clock.expiresAt.getTime() - Math.max(...left) * 1000);
}

/**
 * The reminder to give now, if any is due. Where several are overdue because no server ran, only the last one is given; it escalates
 * once, if any of them would have.
 */
export function dueReminder(clock: ReminderClock, level: number, now: Date): Reminder | undefined {
  const due = remindersLeft(clock).filter(({ secondsBefore }) => clock.expiresAt.getTime() - secondsBefore * 1000 <= now.getTime());
  if (due.length === 0) return undefined;
  const secondsBefore = Math.min(...due.map((reminder) => reminder.secondsBefore));
  const escalates = level < HIGHEST_LEVEL && due.some((reminder) => reminder.escalate);
  return { secondsBefore, ...(escalates ? { escalate: true } : {}) };
}

function remindersLeft({ reminders, remindedSeconds }: ReminderClock): readonly Reminder[] {
  return reminders.filter(({ secondsBefore }) => remindedSeconds === null || secondsBefore < remindedSeconds);
}
