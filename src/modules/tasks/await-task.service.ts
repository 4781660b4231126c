import { Injectable } from '@nestjs/common';
import { isFinalTask, taskStatusOf } from '../../domain/tasks/task-status.js';
import type { Caller } from '../../platform/auth/access/principal.js';
import { Waiters } from '../../platform/wake/waiters.js';
import type { TaskRow } from './task.store.js';
import { TasksQuery } from './tasks.query.js';

/** Reads a task, and holds the answer until it is over. */
@Injectable()
export class AwaitTaskService {
  constructor(
    private readonly tasks: TasksQuery,
    private readonly waiters: Waiters,
  ) {}

  /** First until it is taken, which its own topic tells, then until the execution has ended that took it. */
  async read(id: string, wait: number, caller: Caller): Promise<TaskRow | undefined> {
    const until = Date.now() + wait * 1_000;
    const read = () => this.tasks.find(caller.scope, id);
    const taken = await this.waiters.until(id, caller, wait, read, (task) => task?.status !== 'assigned' || isOver(task));
    const left = Math.max(0, Math.floor((until - Date.now()) / 1_000));
    if (taken === undefined || taken.executionId === null || isOver(taken) || left === 0) return taken;
    return this.waiters.until(taken.executionId, caller, left, read, isOver);
  }
}

function isOver(task: TaskRow | undefined): boolean {
  return task === undefined || isFinalTask(taskStatusOf(task));
}
