import { describe, expect, it } from '@jest/globals';
import { isFinalTask, TASK_STATUSES, TASK_TRANSITIONS, taskStatusOf, type StoredTask, type TaskStatus } from './task-status.js';

describe('the states of a task', () => {
  it('are all reached from assigned, and the final ones lead nowhere', () => {
    const reached = new Set<TaskStatus>(['assigned']);
    for (const status of reached) Object.values(TASK_TRANSITIONS[status]).forEach((next) => reached.add(next));
    expect([...reached].sort()).toEqual([...TASK_STATUSES].sort());
    expect(TASK_STATUSES.filter(isFinalTask)).toEqual(['done', 'failed', 'cancelled']);
  });

  it.each<[StoredTask['status'], string | null, boolean, TaskStatus]>([
    ['assigned', null, false, 'assigned'], ['assigned', null, true, 'cancelled'], ['cancelled', null, false, 'cancelled'],
    ['taken', 'pending_hitl', false, 'running'], ['taken', 'running', true, 'running'], ['taken', 'executed', false, 'done'],
    ['taken', 'failed', false, 'failed'], ['taken', 'indeterminate', false, 'failed'], ['taken', 'cancelled', false, 'failed'],
    ['taken', null, false, 'failed'],
  ])('%s with an execution that is %s, within something ended %s: %s', (status, executionStatus, isWithinEnded, shown) => {
    expect(taskStatusOf({ status, executionStatus, isWithinEnded })).toBe(shown);
  });
});
